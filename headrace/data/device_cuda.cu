// SPDX-License-Identifier: Apache-2.0
// Ones of a bitmap on a CUDA device, counted there.
#include "headrace/data/device_kernels.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 4;

/// A thread a word of 32 bits at a time; bits behind the last one are the first block's.
__global__ void count_kernel(const uint8_t* __restrict__ bits, int64_t first, int64_t count,
                             unsigned long long* ones) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  int sum = 0;
  const int64_t words = count / 32;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += step) {
    const int64_t begin = first + 32 * i;
    const uint8_t* const from = bits + begin / 8;
    uint64_t word = 0;
    for (int byte = 0; byte < (begin % 8 == 0 ? 4 : 5); ++byte)
      word |= uint64_t{from[byte]} << (8 * byte);
    sum += __popc(static_cast<unsigned>(word >> (begin % 8)));
  }
  if (blockIdx.x == 0 && threadIdx.x < count % 32) {
    const int64_t at = first + 32 * words + threadIdx.x;
    sum += bits[at >> 3] >> (at & 7) & 1;
  }
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x % 32 == 0 && sum > 0) atomicAdd(ones, static_cast<unsigned long long>(sum));
}

}  // namespace

int64_t count_bits(const Buffer& bitmap, int64_t first, int64_t count) {
  DeviceCall call("null_count", bitmap.place());
  call.reads(bitmap);
  const Buffer ones = call.scratch(8);
  call.fill(call.writes(ones), 0, 8);
  const unsigned blocks =
      blocks_in_turn(count / 32 + 1, kThreads, bitmap.place().index, kBlocksAProcessor);
  count_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
      bitmap.as<uint8_t>(), first, count, call.writes_as<unsigned long long>(ones));
  call.finish(cudaGetLastError());
  int64_t found = 0;
  call.fetch(&found, ones.data(), 8);
  return found;
}

}  // namespace hr::cuda
