// SPDX-License-Identifier: Apache-2.0
// CUDA devices: the driver's functions, found at run time, and memory of a device and pinned to the
// host.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/resource/resource.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace hr {

/// The place of a CUDA device.
constexpr Place cuda_place(int32_t index = 0) {
  return {PlaceKind::kCuda, index};
}

/// The functions of CUDA's driver for streams, copies and modules, with its signatures; a status of
/// 0 is success. External_device.h has those for memory.
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

/// Memory of a device in the order of the thread's current stream, from the driver's default pool,
/// which other libraries share: freed blocks stay in it up to the limit. At least 256-byte aligned.
/// Throws OutOfMemoryError that names the device's largest holders, beyond the limit
/// (`set_memory_limit(bytes, cuda_place())`) or what the card has; DeviceError without a device.
HR_API AnyResource cuda_resource(int device = 0);

/// Host memory that devices copy from and to without the processor's help. Blocks of at least 64
/// KiB are kept for the next taker. Throws DeviceError without a driver.
HR_API AnyResource pinned_resource();

/// The stream of a device for work that nobody gave another one, made at first use. `id` is the
/// driver's handle. Throws DeviceError without such a device.
HR_API Stream own_stream(int device);

/// The queue of `place` that operators of this thread go to: the innermost ScopedStream, else the
/// device's own one. Throws DeviceError as that does, and for other places without a ScopedStream.
HR_API Stream current_stream(Place place);

/// Makes a stream current for its place on this thread until the end of the scope.
class HR_API ScopedStream {
 public:
  ScopedStream(Place place, Stream stream);
  ~ScopedStream();
  ScopedStream(const ScopedStream&) = delete;
  ScopedStream& operator=(const ScopedStream&) = delete;

 private:
  Place place_;
  Stream stream_;
  ScopedStream* outer_;

  friend HR_API Stream current_stream(Place);
};

/// The driver's handle of a stream of a CUDA device.
inline void* native_stream(Stream stream) {
  return reinterpret_cast<void*>(stream.id);
}

}  // namespace hr
