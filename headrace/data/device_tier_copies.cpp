// SPDX-License-Identifier: Apache-2.0
// What leaves a device under its limit, and comes back: copies in the order of streams.
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/data/device_copy.h"
#include "headrace/data/device_write_tracking.h"
#include "headrace/exec/device_profile.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/device/device_tier.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/memory/external/external_allocator_device.h"

#include <cstring>
#include <map>
#include <mutex>

namespace hr {

namespace {

struct Writes {
  std::mutex mutex;
  std::map<const std::byte*, DeviceWrite> last;
};

Writes& last_writes() {
  return process_global<Writes>();
}

// A ticket of a CUDA device is an event behind the copy.
uint64_t ticket_behind(Stream stream) {
  const CudaFunctions& cuda = *cuda_functions();
  void* event = nullptr;
  check_cuda("evict", cuda.make_event(&event, 2));  // without a time
  if (const int status = cuda.record_event(event, native_stream(stream)); status != 0) {
    cuda.end_event(event);
    check_cuda("evict", status);
  }
  return reinterpret_cast<uint64_t>(event);
}

uint64_t cuda_out(Place place, const std::byte* from, int64_t bytes, Buffer& to, bool pinned) {
  const CudaScope on("evict", place.index);
  const Stream stream = current_stream(place);
  wait_for_write(from, stream);
  note_device_use(from, native_stream(stream));
  SpanClock clock(stream, place);
  if (!pinned) {
    copy_from_cuda(from, bytes, to, stream);
    clock.stop("evict", bytes);
    return 0;
  }
  check_cuda("evict",
             cuda_functions()->copy_to_host(to.mutable_data(), reinterpret_cast<uint64_t>(from),
                                            static_cast<size_t>(bytes), native_stream(stream)));
  clock.stop("evict", bytes);
  mark_work(stream, "evict");
  return ticket_behind(stream);
}

uint64_t cuda_in(Place place, const Buffer& from, bool pinned, uint64_t ticket, std::byte* to,
                 int64_t bytes) {
  const CudaFunctions& cuda = *cuda_functions();
  const CudaScope on("fetch", place.index);
  const Stream stream = current_stream(place);
  if (ticket != 0) {
    auto* const event = reinterpret_cast<void*>(ticket);
    const int status = cuda.wait_event(native_stream(stream), event, 0);
    cuda.end_event(event);
    check_cuda("fetch", status);
  }
  SpanClock clock(stream, place);
  if (pinned)
    check_cuda("fetch", cuda.copy_to_device(reinterpret_cast<uint64_t>(to), from.data(),
                                            static_cast<size_t>(bytes), native_stream(stream)));
  else
    copy_to_cuda(from, 0, bytes, to, stream);
  clock.stop("fetch", bytes);
  note_write(to, mark_work(stream, "fetch"), "fetch");
  return pinned ? ticket_behind(stream) : 0;
}

// The simulated device is done with a copy when the call returns.
void simulated_out(Place place, const std::byte* from, int64_t bytes, Buffer& to) {
  if (const auto write = last_write(from); write && write->event.number > 0)
    synchronize(Stream{write->event.stream});
  SpanClock clock(Stream{}, place);
  take_time(bytes, simulated_settings().to_host);
  const std::byte* const there = simulated_alias("evict", from, bytes);
  std::byte* const out = to.mutable_data();
  in_pieces(to, 0, bytes, true, [&](int64_t at, int64_t size) {
    std::memcpy(out + at, there + at, static_cast<size_t>(size));
  });
  clock.stop("evict", bytes);
}

void simulated_in(Place place, const Buffer& from, std::byte* to, int64_t bytes) {
  SpanClock clock(Stream{}, place);
  take_time(bytes, simulated_settings().to_device);
  std::byte* const there = simulated_alias("fetch", to, bytes);
  in_pieces(from, 0, bytes, false, [&](int64_t at, int64_t size) {
    std::memcpy(there + at, from.data() + at, static_cast<size_t>(size));
  });
  clock.stop("fetch", bytes);
  note_write(to, StreamEvent{}, "fetch");
}

constexpr DeviceMoves kMoves{
    .out =
        [](Place place, const std::byte* from, int64_t bytes, Buffer& to, bool pinned) {
          if (place.is_gpu()) return cuda_out(place, from, bytes, to, pinned);
          simulated_out(place, from, bytes, to);
          return uint64_t{0};
        },
    .in =
        [](Place place, const Buffer& from, bool pinned, uint64_t ticket, std::byte* to,
           int64_t bytes) {
          if (place.is_gpu()) return cuda_in(place, from, pinned, ticket, to, bytes);
          simulated_in(place, from, to, bytes);
          return uint64_t{0};
        },
    .wait =
        [](Place place, uint64_t ticket) noexcept {
          if (ticket == 0) return;
          try {
            const CudaScope on("evict", place.index);
            cuda_functions()->synchronize_event(reinterpret_cast<void*>(ticket));
            cuda_functions()->end_event(reinterpret_cast<void*>(ticket));
          } catch (const Error&) {  // the driver is gone, and the copies with it
          }
        },
};

[[maybe_unused]] const bool kInstalled = (set_device_moves(&kMoves), true);

}  // namespace

void note_write(const std::byte* block, const StreamEvent& event, std::string_view op) {
  Writes& all = last_writes();
  const std::lock_guard lock(all.mutex);
  all.last[block] = {event, std::string(op)};
}

std::optional<DeviceWrite> last_write(const std::byte* block) {
  Writes& all = last_writes();
  const std::lock_guard lock(all.mutex);
  const auto found = all.last.find(block);
  if (found == all.last.end()) return {};
  return found->second;
}

void wait_for_write(const std::byte* block, Stream stream) {
  const auto write = last_write(block);
  if (write && !is_ordered(stream, write->event)) wait_event(stream, write->event);
}

}  // namespace hr
