// SPDX-License-Identifier: Apache-2.0
// Peaks on a CUDA device: each thread holds its element against its next neighbours; the few that
// stand out are then compared by a warp each, 32 neighbours at a time.
#include "headrace/data/device_launch.h"
#include "headrace/signal/non_max_suppression_kernels.h"
#include "headrace/signal/non_max_suppression_math.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;
constexpr int64_t kNear = 4;

// Whether x[i] is a peak, for a warp. What is nearer than kNear was compared before.
template <class T>
__device__ bool is_peak(const View<T>& x, int64_t i, int64_t half, int lane) {
  const T value = x[i];
  const int64_t before = half < i ? half : i;
  const int64_t after = half < x.size - 1 - i ? half : x.size - 1 - i;
  for (int64_t near = kNear; near < before || near < after; near += 32) {
    const int64_t distance = near + 1 + lane;
    const bool beaten = (distance <= before && x[i - distance] >= value) ||
                        (distance <= after && x[i + distance] > value);
    if (__any_sync(~0u, beaten)) return false;
  }
  return true;
}

template <class T>
__global__ void peaks_kernel(View<T> x, int64_t half, T threshold, uint8_t* __restrict__ gate) {
  __shared__ unsigned short candidates[kTile];
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  const int64_t begin = int64_t{blockIdx.x} * kTile;
  const int64_t near = half < kNear ? half : kNear;
#pragma unroll 4
  for (int k = 0; k < kItems; ++k) {
    const int place = k * kThreads + static_cast<int>(threadIdx.x);
    const int64_t i = begin + place;
    if (i >= x.size) break;
    const T value = x[i];
    const bool stands_out = value >= threshold && is_window_peak(x, i, near);
    if (half <= kNear || !stands_out) gate[i] = stands_out ? 1 : 0;
    if (half > kNear && stands_out)
      candidates[atomicAdd(&found, 1)] = static_cast<unsigned short>(place);
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int k = static_cast<int>(threadIdx.x / 32); k < found; k += kThreads / 32) {
    const int64_t i = begin + candidates[k];
    const bool peak = is_peak(x, i, half, lane);
    if (lane == 0) gate[i] = peak ? 1 : 0;
  }
}

}  // namespace

void non_max_suppression(const Tensor& x, int64_t half, double threshold, Buffer& gate) {
  DeviceCall call("non_max_suppression", x.place());
  call.reads(x.buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    auto* const out = call.writes_as<uint8_t>(gate);
    T rounded;
    if (!round_threshold(threshold, rounded))
      return call.fill(reinterpret_cast<std::byte*>(out), 0, x.num_elements());
    peaks_kernel<T><<<blocks_of(x.num_elements(), kTile), kThreads, 0, stream>>>(
        view_of<T>(x), half, rounded, out);
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
