// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: the bits of a mask, tile by tile, and how many each tile has.
#pragma once
#include "headrace/data/device_launch.h"

#include <cstdint>

namespace hr::cuda {

constexpr int kMaskThreads = 256;
constexpr int kMaskRows = 32;  // of a thread
constexpr int64_t kMaskTile = int64_t{kMaskThreads} * kMaskRows;

/// A bool array, a byte a row. Bit i of `mask` tells whether row first + i is true.
struct ByteMask {
  View<uint8_t> bytes;

  __device__ unsigned mask(int64_t first) const {
    unsigned bits = 0;
    if (first + kMaskRows <= bytes.size && bytes.stride == 1 &&
        reinterpret_cast<uintptr_t>(bytes.data + first) % 16 == 0) {
      const auto* words = reinterpret_cast<const uint4*>(bytes.data + first);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const uint4 word = words[k];
        const unsigned four[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
        for (int j = 0; j < 4; ++j)  // each byte keeps a bit of its own, and the top byte adds up
          bits |= ((__vcmpne4(four[j], 0) & 0x08040201u) * 0x01010101u >> 24) << (16 * k + 4 * j);
      }
      return bits;
    }
    for (int i = 0; i < kMaskRows; ++i)
      if (first + i < bytes.size && bytes[first + i] != 0) bits |= 1u << i;
    return bits;
  }
};

/// Bits of a bitmap from bit `begin` on, up to 32 of them.
__device__ inline unsigned bits_from(const uint8_t* bits, int64_t begin, int64_t count) {
  if (count <= 0) return 0;
  uint64_t word = 0;
  for (int64_t byte = begin / 8; byte <= (begin + count - 1) / 8; ++byte)
    word |= uint64_t{bits[byte]} << (8 * (byte - begin / 8));
  return static_cast<unsigned>(word >> (begin % 8)) & (count >= 32 ? ~0u : (1u << count) - 1);
}

/// A bool column, of which nulls are false.
struct BitMask {
  const uint8_t* bits;
  const uint8_t* valid;  // or null
  int64_t offset;
  int64_t rows;

  __device__ unsigned mask(int64_t first) const {
    const int64_t count = rows - first < kMaskRows ? rows - first : kMaskRows;
    const unsigned word = bits_from(bits, offset + first, count);
    return valid ? word & bits_from(valid, offset + first, count) : word;
  }
};

template <class Mask>
__global__ void count_tiles_kernel(Mask mask, int64_t* counts) {
  __shared__ int warps[kMaskThreads / 32];
  const unsigned bits =
      mask.mask(int64_t{blockIdx.x} * kMaskTile + int64_t{threadIdx.x} * kMaskRows);
  const int sum = __reduce_add_sync(~0u, __popc(bits));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  int64_t total = 0;
  for (const int warp : warps) total += warp;
  counts[blockIdx.x] = total;
}

/// Of a thread with `own` items, how many threads of the block before it have.
__device__ inline int items_before(int own) {
  __shared__ int warps[kMaskThreads / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  int sum = own;
  for (int step = 1; step < 32; step *= 2) {
    const int left = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  int before = sum - own;
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) before += warps[warp];
  return before;
}

}  // namespace hr::cuda
