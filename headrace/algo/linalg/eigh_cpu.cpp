// SPDX-License-Identifier: Apache-2.0
// Rotations and reflections, on rows so that every inner loop is contiguous.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/eigh_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/algo/linalg/row_simd.h"
//
#include "headrace/algo/linalg/eigh_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<double, 8>;

void turn_rows(double* strip, const cpu::Sweep* sweeps, int64_t count) {
  constexpr Tag tag;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(tag));
  constexpr int64_t kColumns = cpu::kTurnedColumns, kAtOnce = 4;  // vectors
  for (int64_t sweep = 0; sweep < count; ++sweep)
    for (int64_t column = 0; column < kColumns; column += kAtOnce * kLanes) {
      const auto& [first, last, angles] = sweeps[sweep];
      double* row = strip + first * kColumns + column;
      hn::Vec<decltype(tag)> upper[kAtOnce];
#pragma GCC unroll 4
      for (int64_t v = 0; v < kAtOnce; ++v) upper[v] = hn::LoadU(tag, row + v * kLanes);
      for (const double* angle = angles; angle < angles + 2 * (last - first); angle += 2) {
        const auto c = hn::Set(tag, angle[0]), s = hn::Set(tag, angle[1]), back = hn::Neg(s);
#pragma GCC unroll 4
        for (int64_t v = 0; v < kAtOnce; ++v) {
          const auto lower = hn::LoadU(tag, row + kColumns + v * kLanes);
          hn::StoreU(fused(s, lower, hn::Mul(c, upper[v])), tag, row + v * kLanes);
          upper[v] = fused(back, upper[v], hn::Mul(c, lower));
        }
        row += kColumns;
      }
#pragma GCC unroll 4
      for (int64_t v = 0; v < kAtOnce; ++v) hn::StoreU(upper[v], tag, row + v * kLanes);
    }
}

void reflect_back(const double* a, const double* factors, double* vectors, int64_t count,
                  int64_t n) {
  for (int64_t c = 0; c < count; ++c)
    for (int64_t k = n - 2; k >= 0; --k) {
      const int64_t first = k + 1;
      const double* v = a + k * n + first;
      double* x = vectors + c * n + first;
      if (factors[k] != 0) add_scaled(x, -(factors[k] * dot(x, v, n - first)), v, n - first);
    }
}

void orthogonalize(double* x, const double* before, int64_t count, int64_t n) {
  // Scaled first: a solution of a matrix without an inverse is huge.
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
  for (int64_t i = 0; i < n; ++i) x[i] /= largest;
  for (int again = 0; again < 2; ++again) {  // twice is enough
    for (int64_t c = 0; c < count; ++c)
      add_scaled(x, -dot(x, before + c * n, n), before + c * n, n);
    const double length = std::sqrt(dot(x, x, n));
    for (int64_t i = 0; i < n; ++i) x[i] /= length;
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void turn_rows(double* strip, const Sweep* sweeps, int64_t count) {
  HR_SIMD(turn_rows)(strip, sweeps, count);
}

void reflect_back(const double* a, const double* factors, double* vectors, int64_t count,
                  int64_t n) {
  HR_SIMD(reflect_back)(a, factors, vectors, count, n);
}

void orthogonalize(double* x, const double* before, int64_t count, int64_t n) {
  HR_SIMD(orthogonalize)(x, before, count, n);
}

}  // namespace hr::cpu

#endif
