// SPDX-License-Identifier: Apache-2.0
// Segments cut from a signal on a CUDA device: a warp a row, its lanes the 32 lanes of the CPU's
// sums, so the bits are the same.
#include "headrace/data/device_launch.h"
#include "headrace/signal/segments_kernels.h"
#include "headrace/signal/segments_math.h"

#include <limits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 32;

/// Combines the lanes by a binary tree; all get the result.
template <class F>
__device__ double fold(double own, const F& combine) {
  for (int half = kLanes / 2; half > 0; half /= 2)
    own = combine(own, __shfl_down_sync(~0u, own, half));
  return __shfl_sync(~0u, own, 0);
}

struct Add {
  __device__ double operator()(double a, double b) const { return a + b; }
};

struct Least {
  __device__ double operator()(double a, double b) const { return b < a ? b : a; }
};

struct Most {
  __device__ double operator()(double a, double b) const { return b > a ? b : a; }
};

/// Calls take(value, weight) for the values of a lane. Those that are left behind the last 32 go to
/// the last lanes; the others get a value of the row again, with weight 0.
template <class T, class Take>
__device__ void each_value(const View<T>& values, int lane, const Take& take) {
  const int64_t rest = values.size % kLanes;
  for (int64_t i = lane; i < values.size - rest; i += kLanes)
    take(static_cast<double>(values[i]), 1.0);
  if (rest == 0) return;
  const bool counts = lane >= kLanes - rest;
  const int64_t place = values.size - kLanes + lane;
  take(static_cast<double>(values[place >= 0 ? place : 0]), counts ? 1.0 : 0.0);
}

template <class T>
__device__ double sum_of_squares(const View<T>& values, double mean, int lane) {
  double sum = 0;
  each_value(values, lane, [&](double value, double weight) {
    const double distance = (value - mean) * weight;
    sum += distance * distance;
  });
  return fold(sum, Add());
}

template <class T>
__device__ void scale(const View<T>& values, double center, double divisor, T* row, int lane) {
  const double factor = 1.0 / divisor;
  for (int64_t i = lane; i < values.size; i += kLanes) {
    const double distance = static_cast<double>(values[i]) - center;
    if (divisor == 0)
      row[i] = T{0};
    else if (sizeof(T) == 4)
      row[i] = static_cast<T>(distance * factor);
    else
      row[i] = static_cast<T>(distance / divisor);
  }
}

/// The careful way, as the CPU's: rows that are far from zero, or hold NaN or inf.
template <class T>
__device__ void normalize_row(const View<T>& values, Normalize normalize, T* row, int lane) {
  double low = static_cast<double>(values[0]);
  double high = low;
  double sum = 0;
  bool finite = true;
  each_value(values, lane, [&](double value, double weight) {
    low = Least()(low, value);
    high = Most()(high, value);
    sum += value * weight;
    finite &= value - value == 0;
  });
  low = fold(low, Least());
  high = fold(high, Most());
  sum = fold(sum, Add());
  if (!__all_sync(~0u, finite)) {
    for (int64_t i = lane; i < values.size; i += kLanes)
      row[i] = std::numeric_limits<T>::quiet_NaN();
  } else if (normalize == Normalize::kMinMax) {
    scale(values, low, high - low, row, lane);
  } else if (normalize == Normalize::kMax) {
    const double a = fabs(low);
    const double b = fabs(high);
    scale(values, 0.0, a < b ? b : a, row, lane);
  } else if (low == high) {
    scale(values, low, 0.0, row, lane);
  } else {
    const double samples = static_cast<double>(values.size);
    const double mean = sum / samples;
    scale(values, mean, sqrt(sum_of_squares(values, mean, lane) / samples), row, lane);
  }
}

template <class T>
__device__ void zscore_row(const View<T>& values, T* row, int lane) {
  double sum = 0;
  double squares = 0;
  each_value(values, lane, [&](double value, double weight) {
    const double counted = value * weight;
    sum += counted;
    if (sizeof(T) == 4) squares += counted * counted;
  });
  const double samples = static_cast<double>(values.size);
  const double mean = fold(sum, Add()) / samples;
  double variance = fold(squares, Add()) / samples - mean * mean;
  if (sizeof(T) > 4 || !(variance * (kFarFromMean * kFarFromMean) > mean * mean))
    variance = sum_of_squares(values, mean, lane) / samples;
  const double deviation = sqrt(variance);
  if (mean - mean == 0 && deviation > kNearlyEqual * fabs(mean))
    scale(values, mean, deviation, row, lane);
  else
    normalize_row(values, Normalize::kZscore, row, lane);
}

template <class T>
__global__ void segments_kernel(View<T> x, View<int64_t> begins, View<int64_t> lengths,
                                int64_t width, Normalize normalize, T* __restrict__ out) {
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const int64_t step = int64_t{gridDim.x} * (kThreads / kLanes);
  for (int64_t k = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes; k < begins.size;
       k += step) {
    const int64_t begin = begins[k];
    const int64_t length = lengths[lengths.size == 1 ? 0 : k];
    const WindowCut part = cut_window(begin, length < width ? length : width, x.size);
    T* const row = out + k * width;
    T* const place = row + part.before;
    const int64_t first = begin > 0 ? begin : 0;
    const View<T> values{part.inside > 0 ? x.data + first * x.stride : x.data, x.stride,
                         part.inside};
    for (int64_t i = lane; i < part.before; i += kLanes) row[i] = T{0};
    for (int64_t i = part.before + part.inside + lane; i < width; i += kLanes) row[i] = T{0};
    if (part.inside == 0) continue;
    if (normalize == Normalize::kNone)
      for (int64_t i = lane; i < values.size; i += kLanes) place[i] = values[i];
    else if (normalize == Normalize::kZscore)
      zscore_row(values, place, lane);
    else
      normalize_row(values, normalize, place, lane);
  }
}

}  // namespace

void segments(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
              Normalize normalize, Buffer& out) {
  DeviceCall call("segments", x.place());
  for (const Tensor* input : {&x, &begins}) call.reads(input->buffer());
  // A single length may be the host's.
  Tensor there = lengths;
  if (lengths.place().is_host() && lengths.num_elements() == 1)
    there = Tensor(TypeId::kInt64, {1}, call.table(lengths.data(), 8));
  call.reads(there.buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const unsigned blocks =
        blocks_in_turn(begins.num_elements(), kThreads / kLanes, x.place().index, 64);
    segments_kernel<T><<<blocks, kThreads, 0, stream>>>(view_of<T>(x), view_of<int64_t>(begins),
                                                        view_of<int64_t>(there), width, normalize,
                                                        call.writes_as<T>(out));
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
