// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: tiles of products of points in float32, which filter what is too far.
#pragma once
#include "headrace/data/device_launch.h"

namespace hr::cuda {

inline constexpr int kTilePoints = 128;
inline constexpr int kTileThreads = 256;
inline constexpr int kTileDepth = 16;
inline constexpr int kTileOwn = 8;  // products of a thread: 8 x 8

/// A filter's value of two points, |x|^2 + |y|^2 - 2 xy in float32, is off by at most this times
/// |x|^2 + |y|^2, and by `least_error` for underflow. Each point is rounded once, the product and
/// the squares are sums of `columns` terms by fma, and three sums put them together: (2 d + 6) of
/// 2^-24; the rest is for the float64 distances that decide, and for the bound's own rounding.
inline double relative_error(int64_t columns) {
  return static_cast<double>(2 * columns + 24) * 0x1p-24;
}

inline double least_error(int64_t columns) {
  return static_cast<double>(columns + 8) * 0x1p-118;
}

/// Rows of a matrix on a device, of any strides, as the filter reads them: less an origin, and
/// times a power of two, in their own precision.
template <class T>
struct Points {
  const T* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  const T* shift;  ///< [columns]
  T scale;
  bool quads;  ///< four values can be read at once

  /// Value `column` of a row as it is.
  __device__ double operator()(int64_t row, int64_t column) const {
    return static_cast<double>(data[row * row_stride + column * column_stride]);
  }

  /// Four values in the filter's frame; zeros beyond the matrix.
  __device__ __forceinline__ void read(int64_t row, int64_t column, float (&out)[4]) const {
    const T* const from = data + row * row_stride + column * column_stride;
    const bool inside = row < rows;
    if constexpr (sizeof(T) == 4) {
      if (quads) {
        float4 values{0, 0, 0, 0};
        float4 origin{0, 0, 0, 0};
        if (inside && column < columns) {
          values = *reinterpret_cast<const float4*>(from);
          origin = *reinterpret_cast<const float4*>(shift + column);
        }
        out[0] = (values.x - origin.x) * scale;
        out[1] = (values.y - origin.y) * scale;
        out[2] = (values.z - origin.z) * scale;
        out[3] = (values.w - origin.w) * scale;
        return;
      }
    }
#pragma unroll
    for (int v = 0; v < 4; ++v)
      out[v] = inside && column + v < columns
                   ? static_cast<float>((from[v * column_stride] - shift[column + v]) * scale)
                   : 0.0F;
  }
};

template <class T>
Points<T> points_of(const Tensor& x, const T* shift, double scale) {
  const T* const data = x.as<T>();
  const bool quads = sizeof(T) == 4 && x.strides()[1] == 1 && x.shape()[1] % 4 == 0 &&
                     x.strides()[0] % 4 == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  return {data,           x.shape()[0], x.shape()[1],          x.strides()[0],
          x.strides()[1], shift,        static_cast<T>(scale), quads};
}

/// `scale` where T can hold it: any is right.
template <class T>
double scale_within(double scale) {
  if (sizeof(T) == 8) return scale;
  return std::min(std::max(scale, 0x1p-126), 0x1p126);
}

/// Two tiles in shared memory, twice: one is read while the next is filled.
struct alignas(16) TilePair {
  float left[2][kTileDepth][kTilePoints + 4];
  float right[2][kTileDepth][kTilePoints + 4];
  float left_norms[kTilePoints];  ///< squares of the points, after `multiply`
  float right_norms[kTilePoints];
};

/// Which of a tile's points value i of a thread is of: of the left one, and of the right one.
__device__ __forceinline__ int left_point(int i) {
  return (i / 4) * (kTilePoints / 2) + static_cast<int>(threadIdx.x) / 16 * 4 + i % 4;
}

__device__ __forceinline__ int right_point(int j) {
  return (j / 4) * (kTilePoints / 2) + static_cast<int>(threadIdx.x) % 16 * 4 + j % 4;
}

/// Products of the points from `left_first` and `right_first` on, summed over the columns in order;
/// all threads of the block.
template <class L, class R>
__device__ __forceinline__ void multiply(const Points<L>& left, int64_t left_first,
                                         const Points<R>& right, int64_t right_first,
                                         TilePair& tiles, float (&sums)[kTileOwn][kTileOwn]) {
  constexpr int kHalves = kTilePoints * kTileDepth / 4 / kTileThreads;
  const int thread = static_cast<int>(threadIdx.x);
  float next_left[kHalves][4];
  float next_right[kHalves][4];
  float left_squares[kHalves] = {};
  float right_squares[kHalves] = {};
  const auto fetch = [&](int64_t depth) {
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      const int at = h * kTileThreads + thread;
      left.read(left_first + at / 4, depth + at % 4 * 4, next_left[h]);
      right.read(right_first + at / 4, depth + at % 4 * 4, next_right[h]);
    }
  };
  const auto put = [&](int side) {
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      const int at = h * kTileThreads + thread;
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        tiles.left[side][at % 4 * 4 + v][at / 4] = next_left[h][v];
        tiles.right[side][at % 4 * 4 + v][at / 4] = next_right[h][v];
        left_squares[h] = fmaf(next_left[h][v], next_left[h][v], left_squares[h]);
        right_squares[h] = fmaf(next_right[h][v], next_right[h][v], right_squares[h]);
      }
    }
  };
#pragma unroll
  for (int i = 0; i < kTileOwn; ++i)
#pragma unroll
    for (int j = 0; j < kTileOwn; ++j) sums[i][j] = 0;
  fetch(0);
  put(0);
  __syncthreads();
  int side = 0;
  for (int64_t depth = 0; depth < left.columns; depth += kTileDepth) {
    const bool more = depth + kTileDepth < left.columns;
    if (more) fetch(depth + kTileDepth);
#pragma unroll
    for (int k = 0; k < kTileDepth; ++k) {
      float a[kTileOwn];
      float b[kTileOwn];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float4 x =
            *reinterpret_cast<const float4*>(&tiles.left[side][k][left_point(4 * half)]);
        const float4 y =
            *reinterpret_cast<const float4*>(&tiles.right[side][k][right_point(4 * half)]);
        a[4 * half] = x.x, a[4 * half + 1] = x.y, a[4 * half + 2] = x.z, a[4 * half + 3] = x.w;
        b[4 * half] = y.x, b[4 * half + 1] = y.y, b[4 * half + 2] = y.z, b[4 * half + 3] = y.w;
      }
#pragma unroll
      for (int i = 0; i < kTileOwn; ++i)
#pragma unroll
        for (int j = 0; j < kTileOwn; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
    }
    side ^= 1;
    if (more) put(side);
    __syncthreads();
  }
#pragma unroll
  for (int h = 0; h < kHalves; ++h) {
    for (int lane = 1; lane < 4; lane *= 2) {
      left_squares[h] += __shfl_xor_sync(~0u, left_squares[h], lane);
      right_squares[h] += __shfl_xor_sync(~0u, right_squares[h], lane);
    }
    if (thread % 4 == 0) {
      tiles.left_norms[(h * kTileThreads + thread) / 4] = left_squares[h];
      tiles.right_norms[(h * kTileThreads + thread) / 4] = right_squares[h];
    }
  }
  __syncthreads();
}

}  // namespace hr::cuda
