// SPDX-License-Identifier: Apache-2.0
// Householder reduction and rotations, on rows so that every inner loop is contiguous.
#define HWY_TARGET_INCLUDE "headrace/learn/symmetric_eigen_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/learn/symmetric_eigen_kernels.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

void add_scaled(double* __restrict to, double scale, const double* __restrict from, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] += scale * from[j];
}

void subtract_two(double* __restrict to, double a, const double* __restrict x, double b,
                  const double* __restrict y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] -= a * x[j] + b * y[j];
}

/// Sum of products in 16 virtual lanes and one tree.
double dot(const double* a, const double* b, int64_t n) {
  double sums[16] = {};
  int64_t j = 0;
  for (; j + 16 <= n; j += 16)
    for (int lane = 0; lane < 16; ++lane) sums[lane] += a[j + lane] * b[j + lane];
  for (int lane = 0; j < n; ++j, ++lane) sums[lane] += a[j] * b[j];
  for (int half = 8; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
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

void reduce_to_tridiagonal(double* a, double* diagonal, double* beside, double* betas, int64_t n) {
  double* w = diagonal;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t first = k + 1;
    double* v = a + k * n;  // the reflection of step k stays in row k, right of the diagonal
    beside[k] = reflect(v + first, n - first, betas + k);
    if (betas[k] == 0) continue;
    std::fill(w + first, w + n, 0.0);
    for (int64_t i = first; i < n; ++i) add_scaled(w + first, v[i], a + i * n + first, n - first);
    double product = 0;
    for (int64_t j = first; j < n; ++j) {
      w[j] *= betas[k];
      product += w[j] * v[j];
    }
    const double half = betas[k] * product / 2;
    for (int64_t j = first; j < n; ++j) w[j] -= half * v[j];
    for (int64_t i = first; i < n; ++i)
      subtract_two(a + i * n + first, v[i], w + first, w[i], v + first, n - first);
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

void rotate_rows(double* __restrict upper, double* __restrict lower, double c, double s,
                 int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double u = upper[j];
    const double l = lower[j];
    upper[j] = c * u + s * l;
    lower[j] = c * l - s * u;
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void reduce_to_tridiagonal(double* a, double* diagonal, double* beside, double* betas, int64_t n) {
  HR_SIMD(reduce_to_tridiagonal)(a, diagonal, beside, betas, n);
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

void rotate_rows(double* upper, double* lower, double c, double s, int64_t n) {
  HR_SIMD(rotate_rows)(upper, lower, c, s, n);
}

}  // namespace hr::cpu

#endif
