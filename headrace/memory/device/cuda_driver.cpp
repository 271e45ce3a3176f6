// SPDX-License-Identifier: Apache-2.0
// The driver's functions, loaded when the first is needed.
#include "headrace/memory/device/cuda_driver.h"

#include "headrace/base/error.h"
#include "headrace/base/shared_library.h"

#include <atomic>
#include <type_traits>

namespace hr {

namespace {

// The driver's functions if `load` finds all at the first call, or what tests put in their place.
template <class Functions, bool (*load)(SharedLibrary&, Functions&)>
class DriverFunctions {
 public:
  static const Functions* get() {
    if (const Functions* const other = other_) return other;
    static const Functions* const functions = find();
    return functions;
  }

  static void set(const Functions* functions) { other_ = functions; }

 private:
  static const Functions* find() {
    // cuInit is done once devices are counted, and a test's driver counts too.
    if constexpr (!std::is_same_v<Functions, CudaDriver>)
      if (cuda_device_count() < 1) return nullptr;
    SharedLibrary cuda({"libcuda.so.1"});
    static Functions found;
    return load(cuda, found) ? &found : nullptr;
  }

  static inline std::atomic<const Functions*> other_{nullptr};
};

// cuCtxGetDevice of a thread without a context fails, which compute-sanitizer reports as an error
// of the program, so that such a thread is not asked.
struct CurrentContext {
  int (*context)(void**) = nullptr;
  int (*device)(int*) = nullptr;
};
CurrentContext current;

int current_device(int* device) {
  constexpr int kInvalidContext = 201;
  void* context = nullptr;
  const int status = current.context(&context);
  if (status != 0) return status;
  return context ? current.device(device) : kInvalidContext;
}

bool load_driver(SharedLibrary& cuda, CudaDriver& driver) {
  int (*init)(unsigned) = nullptr;
  cuda.load("cuInit", init);
  cuda.load("cuDeviceGetCount", driver.device_count);
  cuda.load("cuMemAllocAsync", driver.allocate);
  cuda.load("cuMemFreeAsync", driver.free);
  cuda.load("cuMemGetInfo_v2", driver.memory);
  cuda.load("cuCtxGetCurrent", current.context);
  cuda.load("cuCtxGetDevice", current.device);
  driver.current_device = current_device;
  cuda.load("cuDevicePrimaryCtxRetain", driver.retain_context);
  cuda.load("cuCtxPushCurrent_v2", driver.push_context);
  cuda.load("cuCtxPopCurrent_v2", driver.pop_context);
  return cuda.missing().empty() && init(0) == 0;
}

bool load_functions(SharedLibrary& cuda, CudaFunctions& f) {
  cuda.load("cuDriverGetVersion", f.driver_version);
  cuda.load("cuDeviceGetName", f.device_name);
  cuda.load("cuDeviceGetAttribute", f.device_attribute);
  cuda.load("cuDeviceGetDefaultMemPool", f.default_pool);
  cuda.load("cuMemPoolSetAttribute", f.set_pool_attribute);
  cuda.load("cuMemPoolGetAttribute", f.get_pool_attribute);
  cuda.load("cuMemPoolTrimTo", f.trim_pool);
  cuda.load("cuMemHostAlloc", f.allocate_pinned);
  cuda.load("cuMemFreeHost", f.free_pinned);
  cuda.load("cuMemHostGetDevicePointer_v2", f.pinned_address);
  cuda.load("cuMemcpyHtoDAsync_v2", f.copy_to_device);
  cuda.load("cuMemcpyDtoHAsync_v2", f.copy_to_host);
  cuda.load("cuMemcpyDtoDAsync_v2", f.copy_on_device);
  cuda.load("cuMemsetD8Async", f.fill);
  cuda.load("cuStreamCreate", f.make_stream);
  cuda.load("cuStreamSynchronize", f.synchronize_stream);
  cuda.load("cuStreamWaitEvent", f.wait_event);
  cuda.load("cuStreamWriteValue32_v2", f.write_value);
  cuda.load("cuEventCreate", f.make_event);
  cuda.load("cuEventRecord", f.record_event);
  cuda.load("cuEventSynchronize", f.synchronize_event);
  cuda.load("cuEventDestroy_v2", f.end_event);
  cuda.load("cuModuleLoadData", f.load_module);
  cuda.load("cuModuleGetFunction", f.find_function);
  cuda.load("cuLaunchKernel", f.launch);
  cuda.load("cuGetErrorName", f.error_name);
  const bool whole = cuda.missing().empty();
  cuda.load("cuEventElapsedTime", f.elapsed);  // for profiles alone
  return whole;
}

bool load_managed(SharedLibrary& cuda, ManagedFunctions& f) {
  cuda.load("cuMemAllocManaged", f.allocate);
  cuda.load("cuMemFree_v2", f.free);
  cuda.load("cuMemPrefetchAsync_v2", f.prefetch);
  cuda.load("cuMemAdvise_v2", f.advise);
  return cuda.missing().empty();
}

using Driver = DriverFunctions<CudaDriver, load_driver>;
using Managed = DriverFunctions<ManagedFunctions, load_managed>;

}  // namespace

const CudaDriver* cuda_driver() {
  return Driver::get();
}

void override_cuda_driver(const CudaDriver* driver) {
  Driver::set(driver);
}

const CudaFunctions* cuda_functions() {
  return DriverFunctions<CudaFunctions, load_functions>::get();
}

const ManagedFunctions* managed_functions() {
  return Managed::get();
}

void set_managed_functions(const ManagedFunctions* functions) {
  Managed::set(functions);
}

const CudaFunctions& cuda_functions_or_throw(std::string_view op) {
  const CudaFunctions* const functions = cuda_functions();
  if (!functions) throw_error<DeviceError>(op, why_no_cuda(), {}, "stay on the host: x.to('cpu')");
  return *functions;
}

int cuda_device_count() {
  const CudaDriver* const driver = cuda_driver();
  int count = 0;
  return driver && driver->device_count(&count) == 0 ? count : 0;
}

void check_cuda_device(std::string_view op, int device) {
  const int devices = cuda_device_count();
  if (device < 0 || device >= devices)
    throw_error<DeviceError>(op, "no such CUDA device", {{"device", device}, {"devices", devices}},
                             "see hr.info() for the devices");
}

void check_cuda(std::string_view op, int status) {
  if (status == 0) return;
  const char* name = nullptr;
  const CudaFunctions* const cuda = cuda_functions();
  if (!cuda || cuda->error_name(status, &name) != 0 || !name) name = "unknown";
  const bool is_lost = status == 700 || (status >= 714 && status <= 719);  // as for a bad address
  throw_error<DeviceError>(op, is_lost ? "a kernel failed" : "the CUDA driver reported an error",
                           {{"error", name}, {"status", status}},
                           is_lost
                               ? "restart the process, which CUDA can no longer use, and look for "
                                 "accesses to freed or foreign memory with compute-sanitizer"
                               : "");
}

std::string why_no_cuda() {
  if (!cuda_driver()) return "no CUDA driver found";
  if (cuda_device_count() < 1) return "the CUDA driver found no device";
  if (!cuda_functions()) return "the CUDA driver is older than 12.0";
  return "";
}

std::string cuda_device_name(int device) {
  char name[256] = {};
  check_cuda("device", cuda_functions_or_throw("device").device_name(name, sizeof name, device));
  return name;
}

int cuda_device_attribute(int device, int attribute) {
  int value = 0;
  check_cuda("device",
             cuda_functions_or_throw("device").device_attribute(&value, attribute, device));
  return value;
}

CudaScope::CudaScope(std::string_view op, int device) {
  const CudaDriver* const driver = cuda_driver();
  if (!driver) throw_error<DeviceError>(op, "no CUDA driver found", {}, "stay on the host");
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

}  // namespace hr
