// SPDX-License-Identifier: Apache-2.0
// The shared loops over rows, at the SIMD level in use.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/row_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/algo/linalg/row_simd.h"
//
#include "headrace/algo/linalg/row_kernels.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

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

void rotate_rows(double* upper, double* lower, double c, double s, int64_t n) {
  HR_SIMD(rotate_rows)(upper, lower, c, s, n);
}

void substitute(const MatrixView<const double>& l, Triangle triangle, const MatrixView<double>& b) {
  HR_SIMD(substitute)(l, triangle, b);
}

}  // namespace hr::cpu

#endif
