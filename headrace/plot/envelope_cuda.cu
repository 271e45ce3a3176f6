// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum for each pixel on a CUDA device: a warp a piece of a pixel's rows, in any
// order, since the result has none.
#include "headrace/data/device_launch.h"
#include "headrace/plot/envelope.h"
#include "headrace/plot/envelope_kernels.h"
#include "headrace/plot/envelope_math.h"

#include <algorithm>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 32;
constexpr int kLoads = 8;  // of a lane, in flight together

template <class T>
struct Pixels {
  T* low;
  T* high;

  __device__ void set(int64_t pixel, const Range<T>& range) const {
    low[pixel] = envelope_value(range, range.low);
    high[pixel] = envelope_value(range, range.high);
  }
};

template <class T>
__device__ T from_lane_below(T value, int step) {
  using Wide = std::conditional_t<(sizeof(T) < 4), int, T>;
  return static_cast<T>(__shfl_down_sync(~0u, static_cast<Wide>(value), step));
}

template <class T>
__global__ void fold_kernel(View<T> x, int64_t width, int64_t pieces, Range<T>* parts,
                            Pixels<T> pixels) {
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const int64_t warp = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int64_t pixel = warp / pieces;
  if (pixel >= width) return;
  const int64_t first = envelope_first_row(pixel, x.size, width);
  const int64_t next = envelope_first_row(pixel + 1, x.size, width);
  const int64_t rows = next > first ? next - first : 1;
  const int64_t piece = warp - pixel * pieces;
  const int64_t end = first + rows * (piece + 1) / pieces;
  int64_t i = first + rows * piece / pieces + lane;
  Range<T> range;
  for (; i + (kLoads - 1) * kLanes < end; i += kLoads * kLanes) {
    T value[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) value[k] = x[i + k * kLanes];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) range.include(value[k]);
  }
  for (; i < end; i += kLanes) range.include(x[i]);
  for (int step = kLanes / 2; step > 0; step /= 2)
    range.include(Range<T>{from_lane_below(range.low, step), from_lane_below(range.high, step)});
  if (lane > 0) return;
  if (pieces == 1)
    pixels.set(pixel, range);
  else
    parts[warp] = range;
}

template <class T>
__global__ void join_kernel(const Range<T>* __restrict__ parts, int64_t width, int64_t pieces,
                            Pixels<T> pixels) {
  const int64_t pixel = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (pixel >= width) return;
  Range<T> range;
  for (int64_t piece = 0; piece < pieces; ++piece) range.include(parts[pixel * pieces + piece]);
  pixels.set(pixel, range);
}

}  // namespace

void envelope(const Tensor& x, int64_t start, int64_t stop, int64_t width, Buffer& low,
              Buffer& high) {
  // Enough warps to fill a large device, each with enough rows to be worth one.
  constexpr int64_t kWarps = 16'384;
  constexpr int64_t kLeastRows = 2 * kLoads * kLanes;
  const int64_t pieces = std::max<int64_t>(
      1, std::min((stop - start) / width / kLeastRows, (kWarps + width - 1) / width));
  DeviceCall call("envelope", x.place());
  call.reads(x.buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    View<T> rows = view_of<T>(x);
    rows.data += start * rows.stride;
    rows.size = stop - start;
    const Pixels<T> pixels{call.writes_as<T>(low), call.writes_as<T>(high)};
    Buffer scratch;
    Range<T>* parts = nullptr;
    if (pieces > 1) {
      scratch = call.scratch(width * pieces * static_cast<int64_t>(sizeof(Range<T>)));
      parts = call.writes_as<Range<T>>(scratch);
    }
    fold_kernel<T><<<blocks_of(width * pieces, kThreads / kLanes), kThreads, 0, stream>>>(
        rows, width, pieces, parts, pixels);
    if (pieces > 1)
      join_kernel<T>
          <<<blocks_of(width, kThreads), kThreads, 0, stream>>>(parts, width, pieces, pixels);
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
