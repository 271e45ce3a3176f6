// SPDX-License-Identifier: Apache-2.0
// Running sums and products of lines on a CUDA device: one thread for each line, in order.
#include "headrace/data/device_launch.h"
#include "headrace/tensor/cumulative_axis_kernels.h"

#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 128;
constexpr int kMostAxes = 64;

/// The axes other than the one that sums run along.
struct Lines {
  int count;
  int64_t size[kMostAxes];
  int64_t from[kMostAxes];
  int64_t to[kMostAxes];
};

template <class T>
__device__ T joined(bool product, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return product ? a * b : a + b;
  } else {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(product ? x * y : x + y);
  }
}

template <class T>
__global__ void run_kernel(const T* __restrict__ in, T* __restrict__ out,
                           const __grid_constant__ Lines lines, int64_t count, int64_t length,
                           int64_t from_step, int64_t to_step, bool product, bool initial) {
  const int64_t line = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (line >= count) return;
  int64_t rest = line;
  for (int d = lines.count - 1; d >= 0; --d) {
    const int64_t outer = rest / lines.size[d];
    const int64_t at = rest - outer * lines.size[d];
    in += at * lines.from[d];
    out += at * lines.to[d];
    rest = outer;
  }
  T total = static_cast<T>(product ? 1 : 0);
  if (initial) {
    *out = total;
    out += to_step;
  }
#pragma unroll 8
  for (int64_t i = 0; i < length; ++i) {
    const T x = in[i * from_step];
    // The first one as it is: -0.0 stays.
    total = i == 0 ? x : joined(product, total, x);
    out[i * to_step] = total;
  }
}

}  // namespace

void run_along(Running running, const Tensor& from, size_t axis, bool initial, const Buffer& out) {
  DeviceCall call("cumulative_sum", from.place());
  call.reads(from.buffer());
  Shape shape = from.shape();
  shape[axis] += initial ? 1 : 0;
  const Shape strides = row_major(shape);
  Lines lines{};
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == axis) continue;
    lines.size[lines.count] = shape[d];
    lines.from[lines.count] = from.strides()[d];
    lines.to[lines.count++] = strides[d];
    count *= shape[d];
  }
  visit_real(from.dtype(), [&]<class T>(std::type_identity<T>) {
    run_kernel<T>
        <<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            from.as<T>(), call.writes_as<T>(out), lines, count, from.shape()[axis],
            from.strides()[axis], strides[axis], running == Running::kProduct, initial);
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
