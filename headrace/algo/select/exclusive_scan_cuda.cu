// SPDX-License-Identifier: Apache-2.0
// Running sums by one block of threads, which doubles its steps.
#include "headrace/algo/select/exclusive_scan_kernels.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 1024;

__global__ void sums_kernel(int64_t* counts, int64_t count, int64_t* total, bool goes_on) {
  __shared__ int64_t sums[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  int64_t before = goes_on ? *total : 0;
  for (int64_t begin = 0; begin < count; begin += kThreads) {
    const int64_t i = begin + thread;
    const int64_t own = i < count ? counts[i] : 0;
    sums[thread] = own;
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
      const int64_t left = thread >= step ? sums[thread - step] : 0;
      __syncthreads();
      sums[thread] += left;
      __syncthreads();
    }
    if (i < count) counts[i] = before + sums[thread] - own;
    before += sums[kThreads - 1];
    __syncthreads();
  }
  if (thread == 0) *total = before;
}

}  // namespace

void exclusive_scan(const DeviceCall& call, int64_t* counts, int64_t count, int64_t* total,
                    bool goes_on) {
  sums_kernel<<<1, kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(counts, count, total,
                                                                            goes_on);
}

}  // namespace hr::cuda
