// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: bits of a bitmap, and validity bitmaps from a byte per row.
#pragma once
#include "headrace/data/device_launch.h"

#include <cstdint>

namespace hr::cuda {

__device__ __forceinline__ bool bit_at(const void* bits, int64_t at) {
  return static_cast<const uint8_t*>(bits)[at >> 3] >> (at & 7) & 1;
}

static __global__ void validity_bits_kernel(const uint8_t* __restrict__ bytes, int64_t count,
                                            unsigned* __restrict__ bits) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned word = __ballot_sync(~0u, i < count && bytes[i] != 0);
  if (threadIdx.x % 32 == 0 && i < count) bits[i / 32] = word;
}

/// The bitmap of rows whose byte is not 0.
inline Buffer validity_of(DeviceCall& call, const uint8_t* bytes, int64_t count, Place place) {
  constexpr int kThreads = 256;
  Buffer bits = allocate_result(8 * ((count + 63) / 64), place);
  validity_bits_kernel<<<blocks_of(count, kThreads), kThreads, 0,
                         static_cast<cudaStream_t>(call.stream())>>>(
      bytes, count, call.writes_as<unsigned>(bits));
  return bits;
}

}  // namespace hr::cuda
