// SPDX-License-Identifier: Apache-2.0
// The C interface: one table of functions, and the entry points that PyTorch and CuPy look up.
#include "headrace/memory/external/external_allocator_c.h"

#include "headrace/memory/external/external_allocator.h"
#include "headrace/memory/external/external_allocator_device.h"

#include <stdexcept>

namespace {

constexpr size_t kAlignment[] = {64, 256};  // host, device
constexpr size_t kUnaligned = 1024;         // up to here the host gives 16

void* allocate(void*, size_t bytes, size_t alignment, int32_t device, void* stream) {
  if (alignment > kAlignment[device >= 0]) return nullptr;
  if (device >= 0) return hr::device_allocate(bytes, device, stream, hr::line_tag("external"));
  // A larger block is aligned as well as any.
  if (alignment > 16 && bytes <= kUnaligned) bytes = kUnaligned + 1;
  return hr::external_allocate(bytes, hr::line_tag("external"));
}

void release(void*, void* pointer, size_t, int32_t device, void* stream) {
  if (device >= 0)
    hr::device_free(pointer, stream);
  else
    hr::external_free(pointer);
}

void* reallocate(void*, void* pointer, size_t bytes, int32_t device, void*) {
  return device >= 0 ? nullptr : hr::external_reallocate(pointer, bytes, hr::line_tag("external"));
}

size_t usable_size(void*, const void* pointer, int32_t device) {
  if (!pointer) return 0;
  return device >= 0 ? hr::device_block_bytes(pointer) : hr::external_usable_bytes(pointer);
}

int32_t query(void*, int32_t device, hr_alloc_statistics_v1* statistics) {
  if (device >= 0) {
    *statistics = hr::device_statistics(device);
    return device < hr::cuda_device_count() ? 0 : 1;
  }
  const hr::MemoryStatistics now = hr::memory_statistics();
  *statistics = {now.external_bytes, now.peak_bytes, now.allocations};
  return 0;
}

thread_local void* cupy_stream = nullptr;

constexpr hr_alloc_v1 kFunctions{1,       sizeof(hr_alloc_v1), nullptr,     allocate,
                                 release, reallocate,          usable_size, query};

}  // namespace

const hr_alloc_v1* hr_alloc_v1_functions() {
  return &kFunctions;
}

void* hr_torch_pool_alloc(size_t bytes, int device, void* stream) {
  return hr::device_allocate(bytes, device, stream, hr::line_tag("torch"));
}

void* hr_torch_alloc(size_t bytes, int device, void* stream) {
  void* const pointer = hr_torch_pool_alloc(bytes, device, stream);
  if (!pointer && bytes > 0) throw std::runtime_error(hr::last_refusal());
  return pointer;
}

void hr_torch_free(void* pointer, size_t, int, void* stream) {
  hr::device_free(pointer, stream);
}

void hr_cupy_set_stream(void* stream) {
  cupy_stream = stream;
}

void* hr_cupy_alloc(void*, size_t bytes, int device) {
  return hr::device_allocate(bytes, device, cupy_stream, hr::line_tag("cupy"));
}

void hr_cupy_free(void*, void* pointer, int) {
  hr::device_free(pointer, nullptr);
}
