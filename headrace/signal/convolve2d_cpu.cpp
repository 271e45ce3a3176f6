// SPDX-License-Identifier: Apache-2.0
// Convolution of matrices by tiles: a tile's inputs are copied with what lies beyond the edges, and
// some rows of outputs share each of them.
#define HWY_TARGET_INCLUDE "headrace/signal/convolve2d_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_vectors.h"
//
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/convolve2d_kernels.h"
#include "headrace/signal/convolve2d_math.h"

#include <algorithm>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

// As many sums as there are registers for, and for a row of inputs: 24e9 products a second
// and core of an EPYC, where 4 rows of 2 vectors make 18e9.
constexpr int64_t kRows = kVectorBytes == 64 ? 4 : 6;
constexpr int64_t kVectors = kVectorBytes == 64 ? 4 : 2;

/// out[i][j] = sum over p, q of taps[p][q] x[i + p][j + q]; `rows` is a multiple of kRows,
/// `columns` of kVectors vectors; those of `out` are `apart`. A vector of inputs is read once for
/// the taps of kRows rows of outputs, each of which adds its products in row-major order of the
/// taps.
template <class T>
void sum_tile(const T* x, int64_t stride, const T* taps, int64_t tap_rows, int64_t tap_columns,
              int64_t rows, int64_t columns, T* out, int64_t apart) {
  constexpr int64_t V = kWidth<T>;
  for (int64_t i = 0; i < rows; i += kRows)
    for (int64_t j = 0; j < columns; j += kVectors * V) {
      Vector<T> sum[kRows][kVectors] = {};
      for (int64_t y = 0; y < tap_rows + kRows - 1; ++y) {  // row y - r of the taps for row r
        const T* const from = x + (i + y) * stride + j;
        const int64_t tap = y * tap_columns;
        if (y >= kRows - 1 && y < tap_rows) {
          for (int64_t q = 0; q < tap_columns; ++q) {
            Vector<T> values[kVectors];
#pragma GCC unroll 4
            for (int64_t u = 0; u < kVectors; ++u) values[u] = load(from + q + u * V);
#pragma GCC unroll 6
            for (int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
              for (int64_t u = 0; u < kVectors; ++u)
                sum[r][u] += values[u] * taps[tap - r * tap_columns + q];
          }
          continue;
        }
#pragma GCC unroll 6
        for (int64_t r = 0; r < kRows; ++r) {
          if (y < r || y - r >= tap_rows) continue;
          for (int64_t q = 0; q < tap_columns; ++q)
#pragma GCC unroll 4
            for (int64_t u = 0; u < kVectors; ++u)
              sum[r][u] += load(from + q + u * V) * taps[tap - r * tap_columns + q];
        }
      }
#pragma GCC unroll 6
      for (int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (int64_t u = 0; u < kVectors; ++u) store(sum[r][u], out + (i + r) * apart + j + u * V);
    }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

constexpr int64_t kTileRows = 48;
constexpr int64_t kTileColumns = 256;

}  // namespace

template <class T>
void fetch_row(const Convolve2dJob& job, const Tensor& x, int64_t row, int64_t first, int64_t count,
               T* out) {
  const auto fill = static_cast<T>(job.fill);
  const int64_t columns = x.shape()[1], step = x.strides()[1];
  const int64_t from_row = place_of(row, x.shape()[0], job.boundary);
  if (from_row < 0) return void(std::fill(out, out + count, fill));
  const T* from = x.as<T>() + from_row * x.strides()[0];
  const int64_t begin = std::clamp<int64_t>(-first, 0, count);
  const int64_t end = std::clamp<int64_t>(columns - first, begin, count);
  const auto beyond = [&](int64_t k) {
    const int64_t column = place_of(first + k, columns, job.boundary);
    return column < 0 ? fill : from[column * step];
  };
  for (int64_t k = 0; k < begin; ++k) out[k] = beyond(k);
  if (step == 1)
    std::copy(from + first + begin, from + first + end, out + begin);
  else
    for (int64_t k = begin; k < end; ++k) out[k] = from[(first + k) * step];
  for (int64_t k = end; k < count; ++k) out[k] = beyond(k);
}

template <class T>
DirectTiles<T>::DirectTiles(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, T* out)
    : job_(job),
      x_(x),
      out_(out),
      tap_rows_(kernel.shape()[0]),
      tap_columns_(kernel.shape()[1]),
      taps_(static_cast<size_t>(tap_rows_ * tap_columns_)) {
  for (int64_t p = 0; p < tap_rows_; ++p)
    for (int64_t q = 0; q < tap_columns_; ++q)
      taps_[static_cast<size_t>(p * tap_columns_ + q)] =
          kernel.as<T>()[(tap_rows_ - 1 - p) * kernel.strides()[0] +
                         (tap_columns_ - 1 - q) * kernel.strides()[1]];
}

template <class T>
void DirectTiles<T>::run(int64_t top, int64_t left, int64_t bottom, int64_t right) const {
  const int64_t stride = kTileColumns + tap_columns_ - 1;
  const int64_t high = kTileRows + tap_rows_ - 1;
  std::vector<T> block(static_cast<size_t>(high * stride));
  std::vector<T> sums;
  for (int64_t i = top; i < bottom; i += kTileRows)
    for (int64_t j = left; j < right; j += kTileColumns) {
      for (int64_t u = 0; u < high; ++u)
        fetch_row(job_, x_, i + job_.first_row - (tap_rows_ - 1) + u,
                  j + job_.first_column - (tap_columns_ - 1), stride, block.data() + u * stride);
      const int64_t height = std::min(kTileRows, bottom - i);
      const int64_t width = std::min(kTileColumns, right - j);
      T* const to = out_ + i * job_.columns + j;
      const bool is_whole = height == kTileRows && width == kTileColumns;
      if (!is_whole) sums.resize(static_cast<size_t>(kTileRows * kTileColumns));
      HR_SIMD(sum_tile<T>)
      (block.data(), stride, taps_.data(), tap_rows_, tap_columns_, kTileRows, kTileColumns,
       is_whole ? to : sums.data(), is_whole ? job_.columns : kTileColumns);
      for (int64_t r = 0; r < height && !is_whole; ++r)
        std::copy_n(sums.data() + r * kTileColumns, width, to + r * job_.columns);
    }
}

template class DirectTiles<float>;
template class DirectTiles<double>;
template void fetch_row(const Convolve2dJob&, const Tensor&, int64_t, int64_t, int64_t, float*);
template void fetch_row(const Convolve2dJob&, const Tensor&, int64_t, int64_t, int64_t, double*);

void convolve2d(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, Buffer& out) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    T* const to = out.mutable_as<T>();
    if (convolves_by_fft(job, kernel)) return convolve2d_by_fft(job, x, kernel, to);
    const DirectTiles<T> tiles(job, x, kernel, to);
    const int64_t across = divide_up(job.columns, kTileColumns);
    parallel_for(divide_up(job.rows, kTileRows) * across, [&](int64_t task) {
      const int64_t i = task / across * kTileRows, j = task % across * kTileColumns;
      tiles.run(i, j, std::min(i + kTileRows, job.rows), std::min(j + kTileColumns, job.columns));
    });
  });
}

}  // namespace hr::cpu
#endif
