// SPDX-License-Identifier: Apache-2.0
// Device memory for other libraries.
#include "headrace/memory/external_device.h"

#include "headrace/base/error.h"
#include "headrace/memory/buffer_rep.h"
#include "headrace/memory/event_log.h"
#include "headrace/memory/external.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <utility>

namespace hr {

namespace {

struct Block {
  size_t bytes = 0;
  int device = 0;
  void* stream = nullptr;  // that it was allocated on
  Tag tag = 0;
  uint64_t serial = 0;
};

struct Devices {
  std::mutex mutex;
  std::map<const void*, Block> blocks;
  std::map<int, hr_alloc_statistics_v1> statistics;

  Devices() { lock_over_fork(mutex); }
};

Devices& devices() {
  static auto* const leaked = new Devices;  // arrays outlive main
  return *leaked;
}

std::atomic<const CudaDriver*> driver_of_tests{nullptr};
std::atomic<LineTag> find_line_tag{nullptr};

template <class F>
bool load(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

const CudaDriver* load_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  static CudaDriver driver;
  int (*init)(unsigned) = nullptr;
  const bool whole = load(library, "cuInit", init) &&
                     load(library, "cuDeviceGetCount", driver.device_count) &&
                     load(library, "cuMemAllocAsync", driver.allocate) &&
                     load(library, "cuMemFreeAsync", driver.free) &&
                     load(library, "cuMemGetInfo_v2", driver.memory) &&
                     load(library, "cuCtxGetDevice", driver.current_device) &&
                     load(library, "cuDevicePrimaryCtxRetain", driver.retain_context) &&
                     load(library, "cuCtxPushCurrent_v2", driver.push_context) &&
                     load(library, "cuCtxPopCurrent_v2", driver.pop_context);
  return whole && init(0) == 0 ? &driver : nullptr;
}

// Makes the device's primary context current, unless one of the device is.
class OnDevice {
 public:
  OnDevice(const CudaDriver& driver, int device) : driver_(driver) {
    int now = -1;
    if (driver.current_device(&now) == 0 && now == device) return;
    void* context = nullptr;
    status_ = driver.retain_context(&context, device);
    if (status_ == 0) status_ = driver.push_context(context);
    pushed_ = status_ == 0;
  }

  ~OnDevice() {
    void* context = nullptr;
    if (pushed_) driver_.pop_context(&context);
  }

  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  int status() const { return status_; }

 private:
  const CudaDriver& driver_;
  int status_ = 0;
  bool pushed_ = false;
};

const CudaDriver& driver_or_throw(const char* op) {
  const CudaDriver* const driver = cuda_driver();
  if (!driver)
    throw_error<DeviceError>(op, "there is no CUDA driver", {}, "install NVIDIA's driver");
  return *driver;
}

void check(const char* op, int status, int device, size_t bytes) {
  if (status == 2)  // CUDA_ERROR_OUT_OF_MEMORY
    throw OutOfMemoryError(
        error_message(op, "the device has no room", {{"bytes", bytes}, {"device", device}},
                      "free arrays on it"),
        static_cast<int64_t>(bytes));
  if (status != 0)
    throw_error<DeviceError>(op, "CUDA's driver refuses",
                             {{"status", status}, {"device", device}, {"bytes", bytes}});
}

}  // namespace

const CudaDriver* cuda_driver() {
  if (const CudaDriver* const other = driver_of_tests) return other;
  static const CudaDriver* const driver = load_driver();
  return driver;
}

void set_cuda_driver(const CudaDriver* driver) {
  driver_of_tests = driver;
}

int cuda_device_count() {
  const CudaDriver* const driver = cuda_driver();
  int count = 0;
  return driver && driver->device_count(&count) == 0 ? count : 0;
}

std::pair<int64_t, int64_t> device_memory(int device) {
  const CudaDriver& driver = driver_or_throw("device_memory");
  const OnDevice on(driver, device);
  check("device_memory", on.status(), device, 0);
  size_t free = 0;
  size_t total = 0;
  check("device_memory", driver.memory(&free, &total), device, 0);
  return {static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

void* device_allocate(size_t bytes, int device, void* stream, Tag tag) noexcept {
  if (bytes == 0) return nullptr;
  const Place place{PlaceKind::kCuda, device};
  const auto counted = static_cast<int64_t>(bytes);
  try {
    const TagInfo info = tag_info(tag);
    const std::string op = info.op.empty() ? "allocate" : info.op;
    const CudaDriver& driver = driver_or_throw(op.c_str());
    Devices& all = devices();
    unsigned long long address = 0;
    {
      const OnDevice on(driver, device);
      check(op.c_str(), on.status(), device, bytes);
      check(op.c_str(), driver.allocate(&address, bytes, stream), device, bytes);
    }
    auto* const pointer = reinterpret_cast<void*>(address);
    {
      const std::lock_guard lock(all.mutex);
      all.blocks[pointer] = {bytes, device, stream, tag, present_serial()};
      hr_alloc_statistics_v1& counts = all.statistics[device];
      ++counts.allocations;
      counts.used_bytes += counted;
      counts.peak_bytes = std::max(counts.peak_bytes, counts.used_bytes);
    }
    log_memory_event(MemoryAction::kAllocate, pointer, counted, tag, place);
    return pointer;
  } catch (const std::exception& error) {
    log_memory_event(MemoryAction::kAllocateFailure, nullptr, counted, tag, place);
    keep_refusal(error.what());
    return nullptr;
  }
}

void device_free(void* pointer, void* stream) noexcept {
  Devices& all = devices();
  Block block;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.blocks.find(pointer);
    if (found == all.blocks.end()) return;
    block = found->second;
    all.statistics[block.device].used_bytes -= static_cast<int64_t>(block.bytes);
    all.blocks.erase(found);
  }
  // Before the bytes go: else another thread's event of the same address could come first.
  log_memory_event(MemoryAction::kFree, pointer, static_cast<int64_t>(block.bytes), block.tag,
                   {PlaceKind::kCuda, block.device});
  if (!stream) stream = block.stream;
  // At the end of the process the driver may be gone: then the memory is, too.
  const CudaDriver* const driver = cuda_driver();
  if (!driver) return;
  const OnDevice on(*driver, block.device);
  if (on.status() == 0) driver->free(reinterpret_cast<uintptr_t>(pointer), stream);
}

size_t device_block_bytes(const void* pointer) noexcept {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(pointer);
  return found == all.blocks.end() ? 0 : found->second.bytes;
}

hr_alloc_statistics_v1 device_statistics(int device) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.statistics.find(device);
  return found == all.statistics.end() ? hr_alloc_statistics_v1{} : found->second;
}

std::vector<Holder> device_holders(uint64_t serial) {
  std::vector<Block> blocks;
  {
    Devices& all = devices();
    const std::lock_guard lock(all.mutex);
    for (const auto& [pointer, block] : all.blocks)
      if (serial == 0 || block.serial > serial) blocks.push_back(block);
  }
  std::vector<Holder> holders;
  for (const Block& block : blocks) {
    Holder& holder = holders.emplace_back();
    holder.serial = block.serial;
    holder.bytes = static_cast<int64_t>(block.bytes);
    holder.tag = tag_info(block.tag);
    holder.place = {PlaceKind::kCuda, block.device};
    holder.external = true;
  }
  return holders;
}

void set_line_tag(LineTag find) {
  find_line_tag = find;
}

Tag line_tag(const char* library) noexcept {
  const LineTag find = find_line_tag;
  return find ? find(library) : 0;
}

}  // namespace hr
