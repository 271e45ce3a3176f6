// SPDX-License-Identifier: Apache-2.0
// Householder reduction and rotations, on rows so that every inner loop is contiguous.
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

void subtract_two(double* __restrict to, double a, const double* __restrict x, double b,
                  const double* __restrict y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] -= a * x[j] + b * y[j];
}

/// A reflection I - beta v v^T that turns x[0..count) into (return value, 0, ..., 0); v replaces x.
double reflect(double* x, int64_t count, double* beta) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(x[i]));
  double tail = 0;
  for (int64_t i = 1; i < count; ++i) tail += (x[i] / largest) * (x[i] / largest);
  *beta = 0;
  if (largest == 0 || tail == 0) return x[0];
  const double head = x[0] / largest;
  const double norm = std::sqrt(head * head + tail);
  const double result = head > 0 ? -norm : norm;
  for (int64_t i = 0; i < count; ++i) x[i] /= largest;
  x[0] = head - result;
  *beta = 2 / (x[0] * x[0] + tail);
  return result * largest;
}

/// Two rows of the triangle taken by a reflection, and their products with the next one, `x`: what
/// they add to those of later rows goes to `next`, their own to `own`, in 16 lanes and one tree. So
/// each row is read and written once a step.
void reflect_rows(double* __restrict upper, double* __restrict lower, const double* v,
                  const double* w, const double* upper_vw, const double* lower_vw, const double* x,
                  double a, double b, double* __restrict next, double* own, int64_t n) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));
  constexpr int64_t kVectors = 16 / kLanes;
  const auto broadcast = [](double value) { return hn::Set(Tag(), value); };
  const auto upper_v = broadcast(-upper_vw[0]), upper_w = broadcast(-upper_vw[1]);
  const auto lower_v = broadcast(-lower_vw[0]), lower_w = broadcast(-lower_vw[1]);
  const auto first = broadcast(a), second = broadcast(b);
  hn::Vec<Tag> upper_sums[kVectors], lower_sums[kVectors];
#pragma GCC unroll 16
  for (int64_t k = 0; k < kVectors; ++k) upper_sums[k] = lower_sums[k] = hn::Zero(Tag());
  int64_t j = 0;
  for (; j + 16 <= n; j += 16)
#pragma GCC unroll 16
    for (int64_t k = 0; k < kVectors; ++k) {
      const int64_t at = j + k * kLanes;
      const auto along_v = hn::LoadU(Tag(), v + at), along_w = hn::LoadU(Tag(), w + at);
      const auto to = hn::LoadU(Tag(), x + at);
      const auto u = fused(upper_v, along_w, fused(upper_w, along_v, hn::LoadU(Tag(), upper + at)));
      const auto l = fused(lower_v, along_w, fused(lower_w, along_v, hn::LoadU(Tag(), lower + at)));
      hn::StoreU(u, Tag(), upper + at);
      hn::StoreU(l, Tag(), lower + at);
      hn::StoreU(fused(second, l, fused(first, u, hn::LoadU(Tag(), next + at))), Tag(), next + at);
      upper_sums[k] = fused(u, to, upper_sums[k]);
      lower_sums[k] = fused(l, to, lower_sums[k]);
    }
  double sums[2][16];
#pragma GCC unroll 16
  for (int64_t k = 0; k < kVectors; ++k) {
    hn::StoreU(upper_sums[k], Tag(), sums[0] + k * kLanes);
    hn::StoreU(lower_sums[k], Tag(), sums[1] + k * kLanes);
  }
  for (int64_t lane = 0; j < n; ++j, ++lane) {
    const double u = std::fma(-upper_vw[0], w[j], std::fma(-upper_vw[1], v[j], upper[j]));
    const double l = std::fma(-lower_vw[0], w[j], std::fma(-lower_vw[1], v[j], lower[j]));
    upper[j] = u;
    lower[j] = l;
    next[j] = std::fma(b, l, std::fma(a, u, next[j]));
    sums[0][lane] = std::fma(u, x[j], sums[0][lane]);
    sums[1][lane] = std::fma(l, x[j], sums[1][lane]);
  }
  for (int row = 0; row < 2; ++row) {
    for (int half = 8; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) sums[row][lane] += sums[row][lane + half];
    own[row] = sums[row][0];
  }
}

void reduce_to_tridiagonal(double* a, double* diagonal, double* beside, double* betas,
                           double* scratch, int64_t n) {
  double* w = diagonal;
  double* next = scratch;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  std::fill(next, next + n, 0.0);
  if (n > 1) {
    beside[0] = reflect(a + 1, n - 1, betas);
    for (int64_t i = 1; i < n && betas[0] != 0; ++i)
      add_scaled(next + 1, a[i], a + i * n + 1, n - 1);
  }
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t first = k + 1;
    std::swap(w, next);     // of the rows as they are, times the reflection of step k
    double* v = a + k * n;  // which stays in row k, right of the diagonal
    double product = 0;
    for (int64_t j = first; j < n; ++j) {
      w[j] *= betas[k];
      product += w[j] * v[j];
    }
    const double half = betas[k] * product / 2;
    for (int64_t j = first; j < n; ++j) w[j] -= half * v[j];
    double* row = a + first * n;
    subtract_two(row + first, v[first], w + first, w[first], v + first, n - first);
    if (first + 1 == n) break;
    beside[first] = reflect(row + first + 1, n - first - 1, betas + first);
    std::fill(next + first, next + n, 0.0);
    const auto update = [&](int64_t i, int64_t j) {
      a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
      return a[i * n + j];
    };
    int64_t i = first + 1;
    for (; i + 1 < n; i += 2) {
      const double upper[2] = {v[i], w[i]}, lower[2] = {v[i + 1], w[i + 1]};
      const double corner = update(i, i), side = update(i, i + 1), end = update(i + 1, i + 1);
      double own[2];
      double* rest = a + i * n + i + 2;
      reflect_rows(rest, rest + n, v + i + 2, w + i + 2, upper, lower, row + i + 2, row[i],
                   row[i + 1], next + i + 2, own, n - i - 2);
      next[i] += corner * row[i] + side * row[i + 1] + own[0];
      next[i + 1] += side * row[i] + end * row[i + 1] + own[1];
    }
    if (i < n) next[i] += update(i, i) * row[i];
  }
  for (int64_t i = 0; i < n; ++i) diagonal[i] = a[i * n + i];
}

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

void reflect_back(const double* a, const double* betas, double* vectors, int64_t count, int64_t n) {
  for (int64_t c = 0; c < count; ++c)
    for (int64_t k = n - 2; k >= 0; --k) {
      const int64_t first = k + 1;
      const double* v = a + k * n + first;
      double* x = vectors + c * n + first;
      if (betas[k] != 0) add_scaled(x, -(betas[k] * dot(x, v, n - first)), v, n - first);
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

void reduce_to_tridiagonal(double* a, double* diagonal, double* beside, double* betas,
                           double* scratch, int64_t n) {
  HR_SIMD(reduce_to_tridiagonal)(a, diagonal, beside, betas, scratch, n);
}

void turn_rows(double* strip, const Sweep* sweeps, int64_t count) {
  HR_SIMD(turn_rows)(strip, sweeps, count);
}

void reflect_back(const double* a, const double* betas, double* vectors, int64_t count, int64_t n) {
  HR_SIMD(reflect_back)(a, betas, vectors, count, n);
}

void orthogonalize(double* x, const double* before, int64_t count, int64_t n) {
  HR_SIMD(orthogonalize)(x, before, count, n);
}

}  // namespace hr::cpu

#endif
