// SPDX-License-Identifier: Apache-2.0
// Householder reduction and implicit QR steps, on rows so that every inner loop is contiguous.
#include "headrace/learn/symmetric_eigen.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hr {
namespace {

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

/// Leaves the diagonal in `diagonal`, what stands beside it in `beside`, and in `a` the transpose
/// of the orthogonal matrix that gives the input back.
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
    for (int64_t i = first; i < n; ++i)
      for (int64_t j = first; j < n; ++j) w[j] += v[i] * a[i * n + j];
    double product = 0;
    for (int64_t j = first; j < n; ++j) {
      w[j] *= betas[k];
      product += w[j] * v[j];
    }
    const double half = betas[k] * product / 2;
    for (int64_t j = first; j < n; ++j) w[j] -= half * v[j];
    for (int64_t i = first; i < n; ++i)
      for (int64_t j = first; j < n; ++j) a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
  }
  for (int64_t i = 0; i < n; ++i) diagonal[i] = a[i * n + i];
  if (n > 0) a[n * n - 1] = 1;
  for (int64_t k = n - 2; k >= 0; --k) {
    const int64_t first = k + 1;
    double* v = a + k * n;
    for (int64_t i = first; i < n && betas[k] != 0; ++i) {
      double* row = a + i * n;
      double product = 0;
      for (int64_t j = first; j < n; ++j) product += row[j] * v[j];
      for (int64_t j = first; j < n; ++j) row[j] -= betas[k] * product * v[j];
    }
    for (int64_t i = first; i < n; ++i) a[i * n + k] = 0;
    std::fill(v, v + n, 0.0);
    v[k] = 1;
  }
}

void rotate_rows(double* upper, double* lower, double c, double s, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double u = upper[j];
    const double l = lower[j];
    upper[j] = c * u + s * l;
    lower[j] = c * l - s * u;
  }
}

/// One implicit QR step with Wilkinson's shift on the rows [first, last] of the tridiagonal matrix.
void step(double* vectors, double* d, double* e, int64_t first, int64_t last, int64_t n) {
  const double delta = (d[last - 1] - d[last]) / 2;
  const double away = delta + std::copysign(std::hypot(delta, e[last - 1]), delta);
  const double shift = d[last] - e[last - 1] / away * e[last - 1];
  double x = d[first] - shift;
  double z = e[first];
  for (int64_t k = first; k < last; ++k) {
    const double r = std::hypot(x, z);
    const double c = r == 0 ? 1 : x / r;
    const double s = r == 0 ? 0 : z / r;
    if (k > first) e[k - 1] = r;
    const double upper = d[k];
    const double lower = d[k + 1];
    const double side = e[k];
    d[k] = c * c * upper + 2 * c * s * side + s * s * lower;
    d[k + 1] = s * s * upper - 2 * c * s * side + c * c * lower;
    e[k] = c * s * (lower - upper) + (c * c - s * s) * side;
    if (k + 1 < last) {
      x = e[k];
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
    rotate_rows(vectors + k * n, vectors + (k + 1) * n, c, s, n);
  }
}

}  // namespace

void symmetric_eigen(double* matrix, double* values, double* scratch, int64_t size) {
  double largest = 0;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const double entry = std::fabs(matrix[i * size + j]);
      if (!std::isfinite(entry))
        throw_error<InvalidArgumentError>("symmetric_eigen", "an entry is not finite",
                                          {{"row", i}, {"column", j}});
      largest = std::max(largest, entry);
    }
  double* beside = scratch;
  reduce_to_tridiagonal(matrix, values, beside, scratch + size, size);
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double nothing = kEpsilon * kEpsilon * largest;
  const auto is_split = [&](int64_t k) {
    const double around = std::fabs(values[k]) + std::fabs(values[k + 1]);
    return std::fabs(beside[k]) <= std::max(kEpsilon * around, nothing);
  };
  int64_t steps_left = 60 * (size + 1);
  for (int64_t last = size - 1; last > 0;) {
    if (is_split(last - 1)) {
      beside[--last] = 0;
      continue;
    }
    int64_t first = last - 1;
    while (first > 0 && !is_split(first - 1)) --first;
    if (--steps_left == 0)
      throw_error<InternalError>("symmetric_eigen", "the iteration does not settle",
                                 {{"size", size}});
    step(matrix, values, beside, first, last, size);
  }
  for (int64_t i = 0; i < size; ++i) {  // by falling value; each row moves at most once
    const int64_t best = std::max_element(values + i, values + size) - values;
    if (best == i) continue;
    std::swap(values[i], values[best]);
    std::swap_ranges(matrix + i * size, matrix + (i + 1) * size, matrix + best * size);
  }
}

}  // namespace hr
