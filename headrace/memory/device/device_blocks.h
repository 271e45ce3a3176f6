// SPDX-License-Identifier: Apache-2.0
// Blocks of devices: who has which, and free ones kept for the next request. For this room only.
#pragma once
#include "headrace/memory/log/tag.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sys/types.h>
#include <vector>

namespace hr {

struct DeviceBlock {
  size_t bytes = 0;  // as asked for
  int device = 0;
  void* stream = nullptr;  // that it was allocated on; of a free one, that it was freed on
  Tag tag = 0;
  uint64_t serial = 0;
  bool own = false;                 // a buffer stands for it in the registry
  bool managed = false;             // not of the pool
  bool rounded = false;             // it has device_block_size(bytes)
  std::vector<void*> used_on = {};  // other streams
};

using DeviceBlocks = std::map<const void*, DeviceBlock>;
/// An entry that is in no map: kept as it is, so that reuse allocates nothing on the host.
using DeviceBlockNode = DeviceBlocks::node_type;

/// What the driver rounds to.
inline constexpr size_t kDeviceGranule = 512;

constexpr size_t device_block_size(size_t bytes) {
  return (bytes + kDeviceGranule - 1) / kDeviceGranule * kDeviceGranule;
}

/// Free blocks by device, stream and size, exactly: the stream's order is what makes the next taker
/// wait, as it does inside the driver's pool, where the same takes two calls. Only of streams that
/// last, since the handle of one that ended may come again for another. When there are too many,
/// all go, so sizes that are no longer requested do not stay. Under the holder's mutex.
class FreeDeviceBlocks {
 public:
  /// Larger blocks go to the driver, whose calls cost nothing compared with its kernels.
  static constexpr size_t kMostBlockBytes = size_t{32} << 20;
  static constexpr int64_t kMostBytes = int64_t{256} << 20;  // of a device
  static constexpr size_t kMostBlocks = 1024;                // of a device

  FreeDeviceBlocks();

  /// Whether such blocks are kept; not while HEADRACE_DEBUG_MEMORY is on, so that compute-sanitizer
  /// sees every end.
  bool takes(void* stream, size_t bytes) const;

  void add_lasting_stream(void* stream);

  /// One that was freed on the stream, or none.
  DeviceBlockNode take(int device, void* stream, size_t bytes);

  /// Keeps a block that was freed on its `stream`; `gone` gets what has to go for it.
  void keep(DeviceBlockNode block, std::vector<DeviceBlockNode>& gone);

  std::vector<DeviceBlockNode> take_all(int device);

  int64_t bytes(int device) const;

 private:
  struct Key {
    void* stream;
    size_t bytes;

    auto operator<=>(const Key&) const = default;
  };

  struct Free {
    std::map<Key, std::vector<DeviceBlockNode>> blocks;
    size_t count = 0;
    int64_t bytes = 0;
  };

  bool is_child();

  std::vector<void*> lasting_{nullptr};
  std::map<int, Free> devices_{};
  uint64_t forks_;
  pid_t process_;
};

}  // namespace hr
