// SPDX-License-Identifier: Apache-2.0
// The device tier: what leaves a device for pinned memory, the host and the disk, and comes back.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/buffer/pin.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hr {

struct Residency;

/// Keeps a buffer's bytes on its device while it lives; what left is fetched first, so `data()`
/// must be asked for afterwards. Throws OutOfMemoryError. Buffers of the host and of other
/// libraries cost nothing.
class HR_API DevicePin {
 public:
  /// `queued`: work of a stream keeps it, so any thread may end it.
  explicit DevicePin(const Buffer& buffer, bool queued = false);
  DevicePin(DevicePin&& other) noexcept
      : buffer_(std::exchange(other.buffer_, {})), queued_(other.queued_) {}
  DevicePin(const DevicePin&) = delete;
  DevicePin& operator=(const DevicePin&) = delete;
  ~DevicePin();

 private:
  Buffer buffer_;  // empty: nothing to let go
  bool queued_;
};

/// Copies bytes that are not on their device from where they are. False, and nothing is done, when
/// they are there.
HR_API bool read_away(const Buffer& buffer, int64_t begin, int64_t size_bytes, std::byte* to);

/// What moved between devices of a place and the host since the process began, and what is away.
struct DeviceTierStatistics {
  int64_t pinned_bytes = 0;   ///< now in pinned memory, copies of what came back included
  int64_t host_bytes = 0;     ///< now in other memory of the host, or from there on the disk
  int64_t evicted_bytes = 0;  ///< taken off the device
  int64_t copied_bytes = 0;   ///< of these, what had no copy on the host yet
  int64_t fetched_bytes = 0;  ///< brought back
};

HR_API DeviceTierStatistics device_tier_statistics(Place place);

/// The most pinned memory that takes what leaves devices: HEADRACE_PINNED_LIMIT, else a quarter of
/// the machine's memory; never more than a quarter of the host's budget.
HR_API int64_t pinned_limit();
HR_API void set_pinned_limit(int64_t bytes);

/// How bytes get from a device to the host and back, in the order of streams; `data` knows. A
/// ticket stands for a queued copy that may still use the host's bytes; 0 for none.
struct DeviceMoves {
  /// Copies `size_bytes` of the device into `to`, behind the work that writes them.
  uint64_t (*out)(Place place, const std::byte* from, int64_t size_bytes, Buffer& to, bool pinned);
  /// Copies them into a new block of the device, behind `ticket`, which ends.
  uint64_t (*in)(Place place, const Buffer& from, bool pinned, uint64_t ticket, std::byte* to,
                 int64_t size_bytes);
  /// Waits for the copy, and ends the ticket.
  void (*wait)(Place place, uint64_t ticket) noexcept;
};

HR_API void set_device_moves(const DeviceMoves* moves);

/// Calls `work(at, size)` for pieces of bytes [begin, begin + bytes) of the host, `at` from `begin`
/// on, each in memory meanwhile.
template <class F>
void in_pieces(const Buffer& buffer, int64_t begin, int64_t bytes, bool write, const F& work) {
  constexpr int64_t kPieceBytes = int64_t{8} << 20;
  for (int64_t done = 0; done < bytes; done += kPieceBytes) {
    const int64_t size = std::min(kPieceBytes, bytes - done);
    const Pin pin{{&buffer, begin + done, begin + done + size, write}};
    work(done, size);
  }
}

}  // namespace hr
