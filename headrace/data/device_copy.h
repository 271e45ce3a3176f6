// SPDX-License-Identifier: Apache-2.0
// Bytes between the host and a CUDA device, through pinned blocks that both reach.
#pragma once
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/device/cuda_device.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// A pinned block and the end of the copies that use it.
struct PinnedBlock {
  Buffer buffer{};
  void* sent = nullptr;  ///< on the stream of copies
  void* done = nullptr;
};

/// Pinned blocks that copies take in turn: the host fills one, or empties it, while the device
/// works on the others. What goes to the device has a stream of its own, so that it comes while
/// work on earlier blocks runs.
class PinnedRing {
 public:
  PinnedRing(std::string_view op, int64_t block_bytes, int64_t count, Stream stream);
  ~PinnedRing();
  PinnedRing(const PinnedRing&) = delete;
  PinnedRing& operator=(const PinnedRing&) = delete;

  /// The block of a step, when what it was given for is done. Throws the error of that, or of an
  /// operator before it, under its name.
  PinnedBlock& take(int64_t index);

  /// Queues a copy of a part of the block to the device; work of the stream that is queued later
  /// begins after it, but what was queued before may still run: it must not use `to`.
  void send(const PinnedBlock& block, int64_t begin, int64_t size_bytes, const std::byte* to) const;
  /// Queues a copy of bytes of the device to the block's begin, in the order of the stream.
  void fetch(PinnedBlock& block, const void* from, int64_t size_bytes) const;

  /// The block is free when all that is queued now is done.
  void give(const PinnedBlock& block) const;
  /// The same of a block that is not needed when it is sent.
  void give_when_sent(const PinnedBlock& block) const;

  /// The CUstream of `send`.
  void* copies() const { return copies_; }

 private:
  std::string op_;
  Stream stream_;
  CudaScope scope_;
  void* copies_;
  std::vector<PinnedBlock> blocks_{};
};

/// Work that is queued on the CUstream `later` from now on begins after all that `earlier` has now.
/// Throws DeviceError, naming `op`.
void begin_after(std::string_view op, void* later, void* earlier);

/// Queues a copy of bytes [begin, begin + size_bytes) of a host buffer to `to`, and returns when
/// the host's bytes are read. Throws DeviceError.
void copy_to_cuda(const Buffer& from, int64_t begin, int64_t size_bytes, std::byte* to,
                  Stream stream);

/// Copies bytes of a device to the begin of `to` and waits for them.
void copy_from_cuda(const std::byte* from, int64_t size_bytes, Buffer& to, Stream stream);

}  // namespace hr
