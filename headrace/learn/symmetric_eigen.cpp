// SPDX-License-Identifier: Apache-2.0
// Householder reduction and implicit QR steps.
#include "headrace/learn/symmetric_eigen.h"

#include "headrace/base/error.h"
#include "headrace/learn/symmetric_eigen_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hr {
namespace {

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
    cpu::rotate_rows(vectors + k * n, vectors + (k + 1) * n, c, s, n);
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
  cpu::reduce_to_tridiagonal(matrix, values, beside, scratch + size, size);
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
