// SPDX-License-Identifier: Apache-2.0
// Substitution by blocks.
#include "headrace/algo/linalg/triangular.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/exec/workers.h"

#include <algorithm>

namespace hr {

void solve_triangular(const MatrixView<const double>& l, Triangle triangle,
                      const MatrixView<double>& b) {
  constexpr int64_t kBlock = cpu::kTriangleRows, kTaskColumns = 256;
  const bool lower = triangle != Triangle::kUpper;
  const int64_t size = l.rows, blocks = (size + kBlock - 1) / kBlock;
  for (int64_t step = 0; step < blocks; ++step) {
    const int64_t begin = (lower ? step : blocks - 1 - step) * kBlock;
    const int64_t end = std::min(size, begin + kBlock);
    const MatrixView<const double> block = l.block(begin, begin, end - begin, end - begin);
    parallel_for((b.columns + kTaskColumns - 1) / kTaskColumns, [&](int64_t task) {
      const int64_t column = task * kTaskColumns;
      cpu::substitute(
          block, triangle,
          b.block(begin, column, end - begin, std::min(kTaskColumns, b.columns - column)));
    });
    const int64_t first = lower ? end : 0, rest = lower ? size - end : begin;
    multiply(l.block(first, begin, rest, end - begin), b.block(begin, 0, end - begin, b.columns),
             b.block(first, 0, rest, b.columns), Update::kSubtract);
  }
}

}  // namespace hr
