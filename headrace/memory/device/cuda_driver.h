// SPDX-License-Identifier: Apache-2.0
// CUDA's driver, found at run time: its functions and its devices.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hr {

/// The place of a CUDA device.
constexpr Place cuda_place(int32_t index = 0) {
  return {PlaceKind::kCuda, index};
}

/// The functions of CUDA's driver for memory and contexts.
struct CudaDriver {
  int (*device_count)(int*) = nullptr;                            // cuDeviceGetCount
  int (*allocate)(unsigned long long*, size_t, void*) = nullptr;  // cuMemAllocAsync
  int (*free)(unsigned long long, void*) = nullptr;               // cuMemFreeAsync
  int (*memory)(size_t*, size_t*) = nullptr;                      // cuMemGetInfo
  int (*current_device)(int*) = nullptr;                          // cuCtxGetDevice
  int (*retain_context)(void**, int) = nullptr;                   // cuDevicePrimaryCtxRetain
  int (*push_context)(void*) = nullptr;                           // cuCtxPushCurrent
  int (*pop_context)(void**) = nullptr;                           // cuCtxPopCurrent
};

/// The driver of this machine, loaded at the first call, or null. Never unloaded.
HR_API const CudaDriver* cuda_driver();
/// Takes another one in its place (null: that of the machine again). For `set_cuda_driver`.
void override_cuda_driver(const CudaDriver* driver);

/// The functions of CUDA's driver for streams, copies and modules, with its signatures; a status of
/// 0 is success.
struct CudaFunctions {
  int (*driver_version)(int*) = nullptr;                        // cuDriverGetVersion
  int (*device_name)(char*, int, int) = nullptr;                // cuDeviceGetName
  int (*device_attribute)(int*, int, int) = nullptr;            // cuDeviceGetAttribute
  int (*default_pool)(void**, int) = nullptr;                   // cuDeviceGetDefaultMemPool
  int (*set_pool_attribute)(void*, int, void*) = nullptr;       // cuMemPoolSetAttribute
  int (*get_pool_attribute)(void*, int, void*) = nullptr;       // cuMemPoolGetAttribute
  int (*trim_pool)(void*, size_t) = nullptr;                    // cuMemPoolTrimTo
  int (*allocate_pinned)(void**, size_t, unsigned) = nullptr;   // cuMemHostAlloc
  int (*free_pinned)(void*) = nullptr;                          // cuMemFreeHost
  int (*pinned_address)(uint64_t*, void*, unsigned) = nullptr;  // cuMemHostGetDevicePointer
  int (*copy_to_device)(uint64_t, const void*, size_t, void*) = nullptr;  // cuMemcpyHtoDAsync
  int (*copy_to_host)(void*, uint64_t, size_t, void*) = nullptr;          // cuMemcpyDtoHAsync
  int (*copy_on_device)(uint64_t, uint64_t, size_t, void*) = nullptr;     // cuMemcpyDtoDAsync
  int (*fill)(uint64_t, unsigned char, size_t, void*) = nullptr;          // cuMemsetD8Async
  int (*make_stream)(void**, unsigned) = nullptr;                         // cuStreamCreate
  int (*synchronize_stream)(void*) = nullptr;                             // cuStreamSynchronize
  int (*wait_event)(void*, void*, unsigned) = nullptr;                    // cuStreamWaitEvent
  int (*write_value)(void*, uint64_t, uint32_t, unsigned) = nullptr;      // cuStreamWriteValue32
  int (*make_event)(void**, unsigned) = nullptr;                          // cuEventCreate
  int (*record_event)(void*, void*) = nullptr;                            // cuEventRecord
  int (*synchronize_event)(void*) = nullptr;                              // cuEventSynchronize
  int (*end_event)(void*) = nullptr;                                      // cuEventDestroy
  int (*elapsed)(float*, void*, void*) = nullptr;              // cuEventElapsedTime; may be missing
  int (*load_module)(void**, const void*) = nullptr;           // cuModuleLoadData
  int (*find_function)(void**, void*, const char*) = nullptr;  // cuModuleGetFunction
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**) = nullptr;         // cuLaunchKernel
  int (*error_name)(int, const char**) = nullptr;  // cuGetErrorName
};

/// They, or null without a driver that has them all. Never unloaded.
HR_API const CudaFunctions* cuda_functions();
/// The same; throws DeviceError, naming `op`, where there are none.
const CudaFunctions& cuda_functions_or_throw(std::string_view op);

/// `CUmemLocation`: the host or a device.
struct CudaLocation {
  int32_t type = 1;
  int32_t id = 0;
};

/// The functions of CUDA's driver for managed memory, with its signatures.
struct ManagedFunctions {
  int (*allocate)(unsigned long long*, size_t, unsigned) = nullptr;  // cuMemAllocManaged
  int (*free)(unsigned long long) = nullptr;                         // cuMemFree
  int (*prefetch)(unsigned long long, size_t, CudaLocation, unsigned,
                  void*) = nullptr;                                        // cuMemPrefetchAsync
  int (*advise)(unsigned long long, size_t, int, CudaLocation) = nullptr;  // cuMemAdvise
};

/// They, or null without a driver of CUDA 12.2 or later.
HR_API const ManagedFunctions* managed_functions();
/// Takes others from here on (null: those of the machine again). For tests.
HR_API void set_managed_functions(const ManagedFunctions* functions);

/// How many CUDA devices there are; 0 without a driver.
HR_API int cuda_device_count();
/// Throws DeviceError, naming `op`, unless there is this one.
void check_cuda_device(std::string_view op, int device);

/// Throws DeviceError that names `op` and CUDA's error unless `status` is 0.
HR_API void check_cuda(std::string_view op, int status);

/// Why no CUDA device can be used on this machine; empty when one can.
HR_API std::string why_no_cuda();

/// "NVIDIA H200"; throws DeviceError without such a device.
HR_API std::string cuda_device_name(int device);

/// An attribute of a device by its number in CUDA's `CUdevice_attribute`.
HR_API int cuda_device_attribute(int device, int attribute);

/// Makes a device's primary context current on this thread while it lives, unless one of the device
/// is. Throws DeviceError, naming `op`.
class HR_API CudaScope {
 public:
  CudaScope(std::string_view op, int device);
  ~CudaScope();
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;

 private:
  bool pushed_ = false;
};

}  // namespace hr
