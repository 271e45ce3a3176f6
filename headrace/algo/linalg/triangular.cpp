// SPDX-License-Identifier: Apache-2.0
// Substitution by blocks.
#include "headrace/algo/linalg/triangular.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/row_kernels.h"

#include <algorithm>

namespace hr {

void solve_triangular(const MatrixView<const double>& l, Triangle triangle,
                      const MatrixView<double>& b) {
  constexpr int64_t kBlock = 64;
  const bool lower = triangle != Triangle::kUpper;
  const int64_t size = l.rows, blocks = (size + kBlock - 1) / kBlock;
  for (int64_t step = 0; step < blocks; ++step) {
    const int64_t begin = (lower ? step : blocks - 1 - step) * kBlock;
    const int64_t end = std::min(size, begin + kBlock);
    for (int64_t n = 0; n < end - begin; ++n) {
      const int64_t i = lower ? begin + n : end - 1 - n;
      double* row = &b(i, 0);
      for (int64_t j = lower ? begin : i + 1; j < (lower ? i : end); ++j)
        cpu::add_scaled(row, -l(i, j), &b(j, 0), b.columns);
      if (triangle != Triangle::kUnitLower)
        for (int64_t j = 0; j < b.columns; ++j) row[j] /= l(i, i);
    }
    const int64_t first = lower ? end : 0, rest = lower ? size - end : begin;
    multiply(l.block(first, begin, rest, end - begin), b.block(begin, 0, end - begin, b.columns),
             b.block(first, 0, rest, b.columns), Update::kSubtract);
  }
}

}  // namespace hr
