// SPDX-License-Identifier: Apache-2.0
// Moving medians on a CUDA device, by the CPU's exchanges: the same bits. A thread for each window.
#include "headrace/data/device_launch.h"
#include "headrace/signal/median_filter_kernels.h"

#include <limits>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kHeld = kMostSortedMedian / 2 + 2;

template <class T>
__device__ __forceinline__ void exchange_if_greater(T& a, T& b) {
  const T low = b < a ? b : a;
  b = b < a ? a : b;
  a = low;
}

/// The least of `count` values to the first, the greatest to the last.
template <class T>
__device__ __forceinline__ void ends_apart(T* v, int count) {
#pragma unroll
  for (int i = 0; i < count / 2; ++i) exchange_if_greater(v[i], v[count - 1 - i]);
#pragma unroll
  for (int i = 1; i < (count + 1) / 2; ++i) exchange_if_greater(v[0], v[i]);
#pragma unroll
  for (int i = count / 2; i < count - 1; ++i) exchange_if_greater(v[i], v[count - 1]);
}

/// `size` values: leaves out the least and the greatest of those that are held, takes the next.
template <int kFirst, class T>
__device__ __forceinline__ T median_of(const T* values, int size) {
  T v[kFirst > 0 ? kFirst : kHeld];
  const int first = kFirst > 0 ? kFirst : size / 2 + 2;
#pragma unroll
  for (int k = 0; k < first; ++k) v[k] = values[k];
#pragma unroll
  for (int held = first; held > 3; --held) {
    ends_apart(v, held);
    v[0] = values[2 * first - held];
  }
  exchange_if_greater(v[0], v[1]);
  exchange_if_greater(v[1], v[2]);
  exchange_if_greater(v[0], v[1]);
  return v[1];
}

/// Of rows without gaps; `kFirst`: what is held of a window at first, 0: as `size` says.
template <class T, int kFirst>
__global__ void __launch_bounds__(kThreads)
    median_kernel(const T* __restrict__ x, int64_t samples, int64_t tiles, int size,
                  T* __restrict__ out) {
  __shared__ T tile[kThreads + kMostSortedMedian];
  const int64_t row = blockIdx.x / tiles, begin = blockIdx.x % tiles * kThreads;
  const T* const from = x + row * samples;
  const int thread = static_cast<int>(threadIdx.x);
  bool has_nan = false;
  for (int k = thread; k < kThreads + size - 1; k += kThreads) {
    const int64_t i = begin - size / 2 + k;
    const T value = i >= 0 && i < samples ? from[i] : T{0};
    has_nan |= value != value;
    tile[k] = value;
  }
  has_nan = __syncthreads_or(has_nan);
  bool is_nan = false;
  if constexpr (std::is_floating_point_v<T>)
    if (has_nan) {
      for (int k = 0; k < size; ++k) is_nan |= tile[thread + k] != tile[thread + k];
      __syncthreads();
      for (int k = thread; k < kThreads + size - 1; k += kThreads)
        if (tile[k] != tile[k]) tile[k] = std::numeric_limits<T>::infinity();
      __syncthreads();
    }
  if (begin + thread >= samples) return;
  T median = size == 1 ? tile[thread] : median_of<kFirst>(tile + thread, size);
  if constexpr (std::is_floating_point_v<T>)
    if (is_nan) median = std::numeric_limits<T>::quiet_NaN();
  out[row * samples + begin + thread] = median;
}

template <class T>
void run(DeviceCall& call, const Tensor& x, int size, T* out) {
  const int64_t samples = x.shape().back();
  const int64_t tiles = (samples + kThreads - 1) / kThreads;
  const auto launch = [&](auto kernel) {
    kernel<<<blocks_of(x.num_elements() / samples * tiles, 1), kThreads, 0,
             static_cast<cudaStream_t>(call.stream())>>>(x.as<T>(), samples, tiles, size, out);
  };
  switch (size) {
    case 3:
      return launch(median_kernel<T, 3>);
    case 5:
      return launch(median_kernel<T, 4>);
    case 7:
      return launch(median_kernel<T, 5>);
    case 9:
      return launch(median_kernel<T, 6>);
    case 11:
      return launch(median_kernel<T, 7>);
    case 13:
      return launch(median_kernel<T, 8>);
    case 15:
      return launch(median_kernel<T, 9>);
    default:
      launch(median_kernel<T, 0>);
  }
}

}  // namespace

void median_filter(const Tensor& x, int64_t size, Buffer& out) {
  DeviceCall call("median_filter", x.place());
  call.reads(x.buffer());
  const auto as = [&]<class T>(std::type_identity<T>) {
    run(call, x, static_cast<int>(size), call.writes_as<T>(out));
  };
  if (x.dtype() == Dtype(TypeId::kInt64))
    as(std::type_identity<int64_t>{});
  else
    visit_floating(x.dtype(), as);
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
