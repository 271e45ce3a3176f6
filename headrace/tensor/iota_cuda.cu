// SPDX-License-Identifier: Apache-2.0
// Numbers in order on a CUDA device.
#include "headrace/data/device_launch.h"
#include "headrace/tensor/iota_kernels.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

__global__ void iota_kernel(int64_t count, int64_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = i;
}

}  // namespace

void write_iota(int64_t count, const Buffer& out) {
  DeviceCall call("arange", out.place());
  iota_kernel<<<blocks_of(count, kThreads), kThreads, 0,
                static_cast<cudaStream_t>(call.stream())>>>(count, call.writes_as<int64_t>(out));
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
