// SPDX-License-Identifier: Apache-2.0
// CUDA devices: the driver's functions, memory of a device and pinned to the host, streams.
#include "headrace/memory/device/cuda_device.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/external/external_allocator_device.h"
#include "headrace/memory/log/tag.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace hr {

namespace {

constexpr size_t kLeastKept = size_t{64} << 10;

const CudaFunctions* load_functions() {
  if (cuda_device_count() < 1) return nullptr;  // cuInit is done, and a made-up driver counts too
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  static CudaFunctions f;
  bool whole = true;
  const auto load = [&](auto*& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    whole &= function != nullptr;
  };
  load(f.driver_version, "cuDriverGetVersion");
  load(f.device_name, "cuDeviceGetName");
  load(f.device_attribute, "cuDeviceGetAttribute");
  load(f.default_pool, "cuDeviceGetDefaultMemPool");
  load(f.set_pool_attribute, "cuMemPoolSetAttribute");
  load(f.get_pool_attribute, "cuMemPoolGetAttribute");
  load(f.trim_pool, "cuMemPoolTrimTo");
  load(f.allocate_pinned, "cuMemHostAlloc");
  load(f.free_pinned, "cuMemFreeHost");
  load(f.pinned_address, "cuMemHostGetDevicePointer_v2");
  load(f.copy_to_device, "cuMemcpyHtoDAsync_v2");
  load(f.copy_to_host, "cuMemcpyDtoHAsync_v2");
  load(f.copy_on_device, "cuMemcpyDtoDAsync_v2");
  load(f.fill, "cuMemsetD8Async");
  load(f.make_stream, "cuStreamCreate");
  load(f.synchronize_stream, "cuStreamSynchronize");
  load(f.wait_event, "cuStreamWaitEvent");
  load(f.write_value, "cuStreamWriteValue32_v2");
  load(f.make_event, "cuEventCreate");
  load(f.record_event, "cuEventRecord");
  load(f.synchronize_event, "cuEventSynchronize");
  load(f.end_event, "cuEventDestroy_v2");
  load(f.load_module, "cuModuleLoadData");
  load(f.find_function, "cuModuleGetFunction");
  load(f.launch, "cuLaunchKernel");
  load(f.error_name, "cuGetErrorName");
  const bool can_all = whole;
  load(f.elapsed, "cuEventElapsedTime");  // for profiles alone
  whole = can_all;
  return whole ? &f : nullptr;
}

const CudaFunctions& functions_or_throw(std::string_view op) {
  const CudaFunctions* const functions = cuda_functions();
  if (!functions) throw_error<DeviceError>(op, why_no_cuda(), {}, "stay on the host: x.to('cpu')");
  return *functions;
}

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

// Free blocks by size, a power of two. Pinning takes the driver about a millisecond for 4 MB.
class PinnedResource {
 public:
  PinnedResource() = default;
  PinnedResource(const PinnedResource&) = delete;
  PinnedResource& operator=(const PinnedResource&) = delete;

  void* allocate(Stream, size_t bytes, size_t alignment) {
    check_request(bytes, alignment);
    if (alignment > 4096)
      throw_error<InvalidArgumentError>("pinned_resource", "the alignment is beyond a page",
                                        {{"alignment", alignment}});
    const size_t size = block_bytes(bytes);
    {
      const std::lock_guard lock(mutex_);
      std::vector<void*>& blocks = free_[size];
      if (!blocks.empty()) {
        void* const block = blocks.back();
        blocks.pop_back();
        cached_ -= size;
        return block;
      }
    }
    const CudaFunctions& cuda = functions_or_throw("pinned_resource");
    const CudaScope on("pinned_resource", 0);
    void* block = nullptr;
    const int status = cuda.allocate_pinned(&block, size, 1);  // portable: for all devices
    if (status == 2)
      throw OutOfMemoryError(
          error_message("allocate", "the system pins no more memory", {{"bytes", size}}),
          static_cast<int64_t>(size));
    check_cuda("pinned_resource", status);
    return block;
  }

  void deallocate(Stream, void* pointer, size_t bytes, size_t) noexcept {
    const size_t size = block_bytes(bytes);
    try {
      const std::lock_guard lock(mutex_);
      free_[size].push_back(pointer);
      cached_ += size;
    } catch (const std::bad_alloc&) {
      release(pointer);
    }
  }

  int64_t cached_bytes() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(cached_);
  }

  int64_t trim() noexcept {
    std::map<size_t, std::vector<void*>> gone;
    size_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(free_);
      bytes = std::exchange(cached_, 0);
    }
    for (const auto& [size, blocks] : gone)
      for (void* const block : blocks) release(block);
    return static_cast<int64_t>(bytes);
  }

  MemoryProperties properties() const { return {.place = host, .alignment = 4096}; }

  std::string describe() const { return "pinned"; }

 private:
  static size_t block_bytes(size_t bytes) { return std::bit_ceil(std::max(bytes, kLeastKept)); }

  static void release(void* block) noexcept {
    try {
      const CudaScope on("pinned_resource", 0);
      cuda_functions()->free_pinned(block);
    } catch (const Error&) {  // the driver is gone, and the pins with it
    }
  }

  mutable ForkMutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
  size_t cached_ = 0;
};

constinit thread_local ScopedStream* innermost = nullptr;

// One stream a device, for work that nobody gave another one. Those of the first devices are found
// without the lock, which every allocation would take.
constexpr int kQuick = 16;
constinit std::array<std::atomic<uint64_t>, kQuick> quick_streams{};

struct OwnStreams {
  std::mutex mutex;
  std::map<int32_t, Stream> streams;

  OwnStreams() { lock_over_fork(mutex); }
};

OwnStreams& own_streams() {
  static auto* const leaked = new OwnStreams;
  return *leaked;
}

}  // namespace

const CudaFunctions* cuda_functions() {
  static const CudaFunctions* const functions = load_functions();
  return functions;
}

void check_cuda(std::string_view op, int status) {
  if (status == 0) return;
  const char* name = nullptr;
  const CudaFunctions* const cuda = cuda_functions();
  if (!cuda || cuda->error_name(status, &name) != 0 || !name) name = "unknown";
  const bool is_lost = status == 700 || (status >= 714 && status <= 719);  // as for a bad address
  throw_error<DeviceError>(
      op, is_lost ? "a kernel failed" : "CUDA's driver refuses",
      {{"error", name}, {"status", status}},
      is_lost ? "start the process again, since CUDA does no more work for it, and look for memory "
                "that was freed or written elsewhere: compute-sanitizer shows the access"
              : "");
}

std::string why_no_cuda() {
  if (!cuda_driver()) return "there is no CUDA driver";
  if (cuda_device_count() < 1) return "the CUDA driver sees no device";
  if (!cuda_functions()) return "the CUDA driver is older than 12.0";
  return "";
}

std::string cuda_device_name(int device) {
  char name[256] = {};
  check_cuda("device", functions_or_throw("device").device_name(name, sizeof name, device));
  return name;
}

int cuda_device_attribute(int device, int attribute) {
  int value = 0;
  check_cuda("device", functions_or_throw("device").device_attribute(&value, attribute, device));
  return value;
}

CudaScope::CudaScope(std::string_view op, int device) {
  const CudaDriver* const driver = cuda_driver();
  if (!driver) throw_error<DeviceError>(op, "there is no CUDA driver", {}, "stay on the host");
  int now = -1;
  if (driver->current_device(&now) == 0 && now == device) return;
  void* context = nullptr;
  check_cuda(op, driver->retain_context(&context, device));
  check_cuda(op, driver->push_context(context));
  pushed_ = true;
}

CudaScope::~CudaScope() {
  void* context = nullptr;
  if (pushed_) cuda_driver()->pop_context(&context);
}

AnyResource cuda_resource(int device) {
  static auto* const leaked = new std::map<int, AnyResource>;
  static auto* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  const auto found = leaked->find(device);
  if (found != leaked->end()) return found->second;
  check_cuda_device("device", device);
  return leaked->emplace(device, AnyResource(std::make_shared<CudaResource>(device))).first->second;
}

AnyResource pinned_resource() {
  static auto* const leaked = new AnyResource(std::make_shared<PinnedResource>());
  return *leaked;
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
    const CudaFunctions& cuda = functions_or_throw("device");
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
  throw_error<DeviceError>("device", "no stream of this place is current",
                           {{"place", place.name()}}, "make one with new_stream");
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
