// SPDX-License-Identifier: Apache-2.0
// Memory of CUDA devices in the order of streams.
#include "headrace/memory/device/cuda_device.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/device/by_device.h"
#include "headrace/memory/device/device_allocator.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace hr {

namespace {

class CudaResource {
 public:
  explicit CudaResource(int device) : device_(device) {}

  void* allocate(Stream stream, size_t bytes, size_t alignment) const {
    check_request(bytes, alignment);
    if (stream.id == 0) stream = current_stream(cuda_place(device_));
    return device_allocate_own(std::max<size_t>(bytes, 1), device_, native_stream(stream));
  }

  void deallocate(Stream stream, void* pointer, size_t, size_t) const noexcept {
    device_free(pointer, native_stream(stream));
  }

  MemoryProperties properties() const { return {.place = cuda_place(device_), .alignment = 256}; }

  std::string describe() const { return "stream-ordered pool of cuda:" + std::to_string(device_); }

 private:
  int device_;
};

[[maybe_unused]] const bool entered = [] {
  set_device_resource(PlaceKind::kCuda, [](Place place) { return cuda_resource(place.index); });
  return true;
}();

constinit thread_local ScopedStream* innermost = nullptr;

// One stream a device, for work that was not given another one. Those of the first devices are
// found without the lock, which every allocation would take.
constexpr int kQuick = 16;
constinit std::array<std::atomic<uint64_t>, kQuick> quick_streams{};

struct OwnStreams {
  std::mutex mutex;
  std::map<int32_t, Stream> streams;

  OwnStreams() { lock_over_fork(mutex); }
};

OwnStreams& own_streams() {
  return process_global<OwnStreams>();
}

}  // namespace

AnyResource cuda_resource(int device) {
  struct Known : ByDevice<AnyResource> {};
  return process_global<Known>().get(device, [&] {
    check_cuda_device("device", device);
    return AnyResource(std::make_shared<CudaResource>(device));
  });
}

Stream own_stream(int device) {
  const bool is_quick = device >= 0 && device < kQuick;
  const auto place = static_cast<size_t>(is_quick ? device : 0);
  if (is_quick)
    if (const uint64_t id = quick_streams[place].load(std::memory_order_acquire)) return {id};
  OwnStreams& own = own_streams();
  void* stream = nullptr;
  {
    const std::lock_guard lock(own.mutex);
    const auto found = own.streams.find(device);
    if (found != own.streams.end()) return found->second;
    const CudaFunctions& cuda = cuda_functions_or_throw("device");
    const CudaScope on("device", device);
    check_cuda("device", cuda.make_stream(&stream, 1));  // does not wait for the legacy stream
    own.streams[device] = Stream{reinterpret_cast<uint64_t>(stream)};
  }
  note_lasting_stream(stream);
  const Stream made{reinterpret_cast<uint64_t>(stream)};
  if (is_quick) quick_streams[place].store(made.id, std::memory_order_release);
  return made;
}

Stream current_stream(Place place) {
  for (const ScopedStream* scope = innermost; scope; scope = scope->outer_)
    if (scope->place_ == place) return scope->stream_;
  if (place.is_gpu()) return own_stream(place.index);
  throw_error<DeviceError>("device", "no current stream for this place", {{"place", place.name()}},
                           "create one with new_stream");
}

ScopedStream::ScopedStream(Place place, Stream stream)
    : place_(place), stream_(stream), outer_(innermost) {
  innermost = this;
}

ScopedStream::~ScopedStream() {
  for (ScopedStream** scope = &innermost; *scope; scope = &(*scope)->outer_)
    if (*scope == this) {
      *scope = outer_;
      return;
    }
}

}  // namespace hr
