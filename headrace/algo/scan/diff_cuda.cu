// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements on a CUDA device.
#include "headrace/algo/scan/diff_kernels.h"
#include "headrace/data/device_launch.h"

#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kItems = 8;  // of a thread, all asked for before the first is used

template <class T>
__device__ T subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;  // wraps
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else {
    return a - b;
  }
}

template <class T>
__global__ void diff_kernel(View<T> x, T* __restrict__ out) {
  const int64_t count = x.size - 1;
  const int64_t first = int64_t{blockIdx.x} * (kThreads * kItems) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int64_t i = first + k * kThreads;
    if (i < count) out[i] = subtract(x[i + 1], x[i]);
  }
}

}  // namespace

void diff(const Tensor& x, Buffer& out) {
  DeviceCall call("diff", x.place());
  call.reads(x.buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const unsigned blocks = blocks_of(x.num_elements() - 1, kThreads * kItems);
    diff_kernel<T><<<blocks, kThreads, 0, stream>>>(view_of<T>(x), call.writes_as<T>(out));
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
