// SPDX-License-Identifier: Apache-2.0
// Positions of the true elements on a CUDA device: count by tile, add up, write each tile in its
// place.
#include "headrace/algo/select/exclusive_scan_kernels.h"
#include "headrace/algo/select/nonzero_kernels.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kRows = 32;  // of a thread
constexpr int64_t kTile = int64_t{kThreads} * kRows;

/// Bit i tells whether row first + i is true.
struct ByteGate {
  View<uint8_t> bytes;

  __device__ unsigned mask(int64_t first) const {
    unsigned bits = 0;
    if (first + kRows <= bytes.size && bytes.stride == 1 &&
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
    for (int i = 0; i < kRows; ++i)
      if (first + i < bytes.size && bytes[first + i] != 0) bits |= 1u << i;
    return bits;
  }
};

struct BitGate {
  const uint8_t* bits;
  int64_t offset;
  int64_t rows;

  __device__ unsigned mask(int64_t first) const {
    const int64_t count = rows - first < kRows ? rows - first : kRows;
    if (count <= 0) return 0;
    const int64_t begin = offset + first;
    uint64_t word = 0;
    for (int64_t byte = begin / 8; byte <= (begin + count - 1) / 8; ++byte)
      word |= uint64_t{bits[byte]} << (8 * (byte - begin / 8));
    return static_cast<unsigned>(word >> (begin % 8)) & (count == kRows ? ~0u : (1u << count) - 1);
  }
};

template <class Gate>
__global__ void count_kernel(Gate gate, int64_t* counts) {
  __shared__ int warps[kThreads / 32];
  const unsigned bits = gate.mask(int64_t{blockIdx.x} * kTile + int64_t{threadIdx.x} * kRows);
  const int sum = __reduce_add_sync(~0u, __popc(bits));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  int64_t total = 0;
  for (const int warp : warps) total += warp;
  counts[blockIdx.x] = total;
}

template <class Gate>
__global__ void write_kernel(Gate gate, const int64_t* __restrict__ before,
                             int64_t* __restrict__ out) {
  __shared__ int warps[kThreads / 32];
  const int64_t first = int64_t{blockIdx.x} * kTile + int64_t{threadIdx.x} * kRows;
  unsigned bits = gate.mask(first);
  const int own = __popc(bits);
  const int lane = static_cast<int>(threadIdx.x % 32);
  int sum = own;
  for (int step = 1; step < 32; step *= 2) {
    const int left = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  int64_t at = before[blockIdx.x] + sum - own;
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) at += warps[warp];
  for (; bits != 0; bits &= bits - 1) out[at++] = first + __ffs(static_cast<int>(bits)) - 1;
}

template <class Gate>
Tensor positions(const Gate& gate, int64_t rows, const Buffer& source) {
  DeviceCall call("nonzero", source.place());
  call.reads(source);
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const unsigned tiles = blocks_of(rows, kTile);
  const Buffer counts = call.scratch((int64_t{tiles} + 1) * 8);
  auto* const before = reinterpret_cast<int64_t*>(call.writes(counts));
  count_kernel<<<tiles, kThreads, 0, stream>>>(gate, before);
  exclusive_scan(call, before, tiles, before + tiles, false);
  call.finish(cudaGetLastError());
  int64_t total = 0;
  call.fetch(&total, before + tiles, 8);
  const Buffer out = allocate_result(total * 8, source.place());
  if (total > 0) {
    write_kernel<<<tiles, kThreads, 0, stream>>>(gate, before, call.writes_as<int64_t>(out));
    call.finish(cudaGetLastError());
  }
  return Tensor(TypeId::kInt64, {total}, out);
}

}  // namespace

Tensor nonzero(const Tensor& gate) {
  const DevicePin pin(gate.buffer());  // before its address is taken
  return positions(ByteGate{view_of<uint8_t>(gate)}, gate.num_elements(), gate.buffer());
}

Tensor nonzero(const Column& gate) {
  const DevicePin pin(gate.values_buffer());
  return positions(BitGate{gate.bits(), gate.offset(), gate.num_rows()}, gate.num_rows(),
                   gate.values_buffer());
}

}  // namespace hr::cuda
