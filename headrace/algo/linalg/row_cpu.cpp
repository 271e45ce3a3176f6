// SPDX-License-Identifier: Apache-2.0
// The shared loops over rows, at the SIMD level in use.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/row_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/algo/linalg/row_simd.h"
//
#include "headrace/algo/linalg/row_kernels.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<double, 8>;

constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));
constexpr int64_t kVectors = 16 / kLanes;

/// Rows whose sums stay in registers.
constexpr int64_t kSumRows = HWY_TARGET == HWY_AVX3 ? 4 : HWY_TARGET == HWY_AVX2 ? 2 : 1;

/// By one tree of 16 lanes.
HWY_INLINE double sum_of(hn::Vec<Tag>* sums) {
#pragma GCC unroll 4
  for (int64_t half = kVectors / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int64_t v = 0; v < half; ++v) sums[v] = hn::Add(sums[v], sums[v + half]);
  double lanes[kLanes];
  hn::StoreU(sums[0], Tag(), lanes);
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

template <int64_t kRows>
HWY_INLINE void dots_of(const double* rows, int64_t stride, const double* x, int64_t n,
                        double* out) {
  hn::Vec<Tag> sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(Tag());
  int64_t j = 0;
  for (; j + 16 <= n; j += 16)
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto along = hn::LoadU(Tag(), x + j + v * kLanes);
#pragma GCC unroll 4
      for (int64_t i = 0; i < kRows; ++i)
        sums[i][v] = fused(hn::LoadU(Tag(), rows + i * stride + j + v * kLanes), along, sums[i][v]);
    }
  for (int64_t i = 0; i < kRows; ++i) {
    if (j < n) {
      double lanes[16];
#pragma GCC unroll 16
      for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], Tag(), lanes + v * kLanes);
      for (int64_t k = j; k < n; ++k)
        lanes[k - j] = std::fma(rows[i * stride + k], x[k], lanes[k - j]);
#pragma GCC unroll 16
      for (int64_t v = 0; v < kVectors; ++v) sums[i][v] = hn::LoadU(Tag(), lanes + v * kLanes);
    }
    out[i] = sum_of(sums[i]);
  }
}

void dots(const MatrixView<const double>& rows, const double* x, double* out) {
  int64_t i = 0;
  for (; i + kSumRows <= rows.rows; i += kSumRows)
    dots_of<kSumRows>(&rows(i, 0), rows.row_stride, x, rows.columns, out + i);
  for (; i < rows.rows; ++i) dots_of<1>(&rows(i, 0), rows.row_stride, x, rows.columns, out + i);
}

template <int64_t kRows>
HWY_INLINE void add_rows_of(const double* rows, int64_t stride, const double* factors, int64_t n,
                            double* HWY_RESTRICT to) {
  hn::Vec<Tag> scales[kRows];
#pragma GCC unroll 8
  for (int64_t i = 0; i < kRows; ++i) scales[i] = hn::Set(Tag(), factors[i]);
  int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    auto first = hn::LoadU(Tag(), to + j), second = hn::LoadU(Tag(), to + j + kLanes);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kRows; ++i) {
      first = fused(scales[i], hn::LoadU(Tag(), rows + i * stride + j), first);
      second = fused(scales[i], hn::LoadU(Tag(), rows + i * stride + j + kLanes), second);
    }
    hn::StoreU(first, Tag(), to + j);
    hn::StoreU(second, Tag(), to + j + kLanes);
  }
  for (; j < n; ++j)
    for (int64_t i = 0; i < kRows; ++i) to[j] = std::fma(factors[i], rows[i * stride + j], to[j]);
}

void add_rows(const MatrixView<const double>& rows, const double* factors, double* to) {
  constexpr int64_t kAtOnce = 8;
  int64_t i = 0;
  for (; i + kAtOnce <= rows.rows; i += kAtOnce)
    add_rows_of<kAtOnce>(&rows(i, 0), rows.row_stride, factors + i, rows.columns, to);
  for (; i < rows.rows; ++i)
    add_rows_of<1>(&rows(i, 0), rows.row_stride, factors + i, rows.columns, to);
}

/// Rows of one line of a symmetric matrix, from its square on the diagonal, at `j0`, on.
template <int64_t kRows>
HWY_INLINE void multiply_symmetric_rows(const double* rows, int64_t stride, const double* factors,
                                        int64_t j0, const double* x, double* HWY_RESTRICT to,
                                        double* own) {
  hn::Vec<Tag> sums[kRows][kVectors], scales[kRows];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kRows; ++i) {
    scales[i] = hn::Set(Tag(), factors[i]);
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v)
      sums[i][v] = hn::Mul(hn::LoadU(Tag(), rows + i * stride + j0 + v * kLanes),
                           hn::LoadU(Tag(), x + j0 + v * kLanes));
  }
  for (int64_t j = j0 + 16; j < stride; j += 16)
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t at = j + v * kLanes;
      const auto along = hn::LoadU(Tag(), x + at);
      auto other = hn::LoadU(Tag(), to + at);
#pragma GCC unroll 4
      for (int64_t i = 0; i < kRows; ++i) {
        const auto row = hn::LoadU(Tag(), rows + i * stride + at);
        sums[i][v] = fused(row, along, sums[i][v]);
        other = fused(scales[i], row, other);
      }
      hn::StoreU(other, Tag(), to + at);
    }
#pragma GCC unroll 4
  for (int64_t i = 0; i < kRows; ++i) own[i] += sum_of(sums[i]);
}

void multiply_symmetric(const MatrixView<const double>& a, int64_t begin, int64_t end,
                        const double* x, double* to) {
  const auto rows = [&]<int64_t kRows>(int64_t i, std::integral_constant<int64_t, kRows>) {
    multiply_symmetric_rows<kRows>(&a(i, 0), a.row_stride, x + i, i / 16 * 16, x, to, to + i);
  };
  int64_t i = begin;
  for (; i + kSumRows <= end; i += kSumRows) rows(i, std::integral_constant<int64_t, kSumRows>());
  for (; i < end; ++i) rows(i, std::integral_constant<int64_t, 1>());
}

constexpr int64_t kStrip = 32;  // columns whose row stays in registers

/// Row `row` of a strip of B less its products with rows [begin, end).
HR_INLINE void solve_row(const MatrixView<const double>& l, int64_t row, int64_t begin, int64_t end,
                         bool unit, const double* b, int64_t stride, double* to) {
  double left[kStrip];
  for (int64_t c = 0; c < kStrip; ++c) left[c] = to[c];
  for (int64_t k = begin; k < end; ++k) {
    const double factor = l(row, k);
    const double* other = b + k * stride;
    for (int64_t c = 0; c < kStrip; ++c) left[c] -= factor * other[c];
  }
  if (!unit)
    for (int64_t c = 0; c < kStrip; ++c) left[c] /= l(row, row);
  for (int64_t c = 0; c < kStrip; ++c) to[c] = left[c];
}

void solve_strip(const MatrixView<const double>& l, Triangle triangle, double* b, int64_t stride) {
  const int64_t size = l.rows;
  const bool unit = triangle == Triangle::kUnitLower;
  if (triangle != Triangle::kUpper)
    for (int64_t i = 0; i < size; ++i) solve_row(l, i, 0, i, unit, b, stride, b + i * stride);
  else
    for (int64_t i = size - 1; i >= 0; --i)
      solve_row(l, i, i + 1, size, unit, b, stride, b + i * stride);
}

void substitute(const MatrixView<const double>& l, Triangle triangle, const MatrixView<double>& b) {
  int64_t first = 0;
  for (; first + kStrip <= b.columns; first += kStrip)
    solve_strip(l, triangle, b.data + first, b.row_stride);
  const int64_t rest = b.columns - first;
  if (rest == 0) return;
  double room[cpu::kTriangleRows * kStrip] = {};
  for (int64_t i = 0; i < b.rows; ++i) std::copy_n(&b(i, first), rest, room + i * kStrip);
  solve_strip(l, triangle, room, kStrip);
  for (int64_t i = 0; i < b.rows; ++i) std::copy_n(room + i * kStrip, rest, &b(i, first));
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

double dot(const double* a, const double* b, int64_t n) {
  return HR_SIMD(dot)(a, b, n);
}

void add_scaled(double* to, double scale, const double* from, int64_t n) {
  HR_SIMD(add_scaled)(to, scale, from, n);
}

void dots(const MatrixView<const double>& rows, const double* x, double* out) {
  HR_SIMD(dots)(rows, x, out);
}

void add_rows(const MatrixView<const double>& rows, const double* factors, double* to) {
  HR_SIMD(add_rows)(rows, factors, to);
}

void multiply_symmetric(const MatrixView<const double>& a, int64_t begin, int64_t end,
                        const double* x, double* to) {
  HR_SIMD(multiply_symmetric)(a, begin, end, x, to);
}

void rotate_rows(double* upper, double* lower, double c, double s, int64_t n) {
  HR_SIMD(rotate_rows)(upper, lower, c, s, n);
}

void substitute(const MatrixView<const double>& l, Triangle triangle, const MatrixView<double>& b) {
  HR_SIMD(substitute)(l, triangle, b);
}

}  // namespace hr::cpu

#endif
