// SPDX-License-Identifier: Apache-2.0
// Householder reduction and rotations, on rows so that every inner loop is contiguous.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/eigh_cpu.cpp"
#include "headrace/base/simd_targets.h"
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

/// A row of two taken by a reflection, and what the next one, whose entries for the rows are `a`
/// and `b`, asks of them: each row is read and written once a step.
void reflect_rows(double* __restrict upper, double* __restrict lower, const double* v,
                  const double* w, const double* upper_vw, const double* lower_vw, double a,
                  double b, double* __restrict next, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double u = upper[j] - (upper_vw[0] * w[j] + upper_vw[1] * v[j]);
    const double l = lower[j] - (lower_vw[0] * w[j] + lower_vw[1] * v[j]);
    upper[j] = u;
    lower[j] = l;
    next[j] = next[j] + a * u + b * l;
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
    const bool any = betas[first] != 0;  // else the entries are no vector
    int64_t i = first + 1;
    for (; i + 1 < n; i += 2) {
      const double upper[2] = {v[i], w[i]}, lower[2] = {v[i + 1], w[i + 1]};
      double* rows = a + i * n + first + 1;
      reflect_rows(rows, rows + n, v + first + 1, w + first + 1, upper, lower, any ? row[i] : 0,
                   any ? row[i + 1] : 0, next + first + 1, n - first - 1);
    }
    if (i < n) {
      double* last = a + i * n + first + 1;
      subtract_two(last, v[i], w + first + 1, w[i], v + first + 1, n - first - 1);
      add_scaled(next + first + 1, any ? row[i] : 0, last, n - first - 1);
    }
  }
  for (int64_t i = 0; i < n; ++i) diagonal[i] = a[i * n + i];
}

void accumulate_reflections(double* a, const double* betas, int64_t n) {
  if (n > 0) a[n * n - 1] = 1;
  for (int64_t k = n - 2; k >= 0; --k) {
    const int64_t first = k + 1;
    double* v = a + k * n;
    for (int64_t i = first; i < n && betas[k] != 0; ++i) {
      double* row = a + i * n + first;
      add_scaled(row, -(betas[k] * dot(row, v + first, n - first)), v + first, n - first);
    }
    for (int64_t i = first; i < n; ++i) a[i * n + k] = 0;
    std::fill(v, v + n, 0.0);
    v[k] = 1;
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

void accumulate_reflections(double* a, const double* betas, int64_t n) {
  HR_SIMD(accumulate_reflections)(a, betas, n);
}

void reflect_back(const double* a, const double* betas, double* vectors, int64_t count, int64_t n) {
  HR_SIMD(reflect_back)(a, betas, vectors, count, n);
}

void orthogonalize(double* x, const double* before, int64_t count, int64_t n) {
  HR_SIMD(orthogonalize)(x, before, count, n);
}

}  // namespace hr::cpu

#endif
