// SPDX-License-Identifier: Apache-2.0
// The C interface by which other libraries allocate from Headrace: versioned, plain C.
#pragma once
#include "headrace/base/api.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes on one device; what grows stays at the end.
struct hr_alloc_statistics_v1 {
  int64_t used_bytes;   ///< given out through these functions and not yet freed
  int64_t peak_bytes;   ///< the most of them
  int64_t allocations;  ///< how often
};

/// In Python: the pointer of the capsule `headrace.memory.alloc_v1()`, named "headrace.alloc_v1".
/// `device` is -1 for the host, else the number of a CUDA device; `stream` is a CUstream there. All
/// functions may be called from any thread and throw nothing.
struct hr_alloc_v1 {
  uint32_t version;  ///< 1
  uint32_t size;     ///< of this struct, so a caller can tell what it has
  void* context;
  /// Null when the budget or the device refuses. Alignment is at most 64 on the host, 256 on a
  /// device.
  void* (*alloc)(void* context, size_t bytes, size_t alignment, int32_t device, void* stream);
  /// `bytes` may be 0 when it is not known. A null pointer is nothing.
  void (*free)(void* context, void* pointer, size_t bytes, int32_t device, void* stream);
  /// Host only, aligned to 16: null on a device, and then the old block is as it was.
  void* (*realloc)(void* context, void* pointer, size_t bytes, int32_t device, void* stream);
  /// What may be used from `pointer` on; 0 for an unknown pointer.
  size_t (*usable_size)(void* context, const void* pointer, int32_t device);
  /// 0, or 1 when there is no such device.
  int32_t (*query)(void* context, int32_t device, struct hr_alloc_statistics_v1* statistics);
};

HR_API const struct hr_alloc_v1* hr_alloc_v1_functions(void);

/// For torch.cuda.memory.CUDAPluggableAllocator. As the current allocator PyTorch cannot read a
/// null pointer as a refusal, so `hr_torch_alloc` throws std::runtime_error, which becomes its
/// RuntimeError.
HR_API void* hr_torch_alloc(size_t bytes, int device, void* stream);
/// The same behind a torch.cuda.MemPool, which can: null becomes torch.OutOfMemoryError, once
/// PyTorch has given back what it caches.
HR_API void* hr_torch_pool_alloc(size_t bytes, int device, void* stream);
HR_API void hr_torch_free(void* pointer, size_t bytes, int device, void* stream);

/// For cupy.cuda.CFunctionAllocator, which knows no streams: memory is made and freed in the order
/// of the stream that this thread set last. Null is a refusal.
HR_API void hr_cupy_set_stream(void* stream);
HR_API void* hr_cupy_alloc(void* context, size_t bytes, int device);
HR_API void hr_cupy_free(void* context, void* pointer, int device);

#ifdef __cplusplus
}  // extern "C"
#endif
