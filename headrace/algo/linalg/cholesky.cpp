// SPDX-License-Identifier: Apache-2.0
// Right-looking, in panels of 64 columns.
#include "headrace/algo/linalg/cholesky.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/algo/linalg/triangular.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>

namespace hr {
namespace {

constexpr int64_t kPanel = 64;
constexpr int64_t kRows = 64;      // of a task below the panel
constexpr int64_t kColumns = 256;  // of the rest that are brought up to date together

/// Row `i` of the panel that begins at `begin`, up to column `end`.
void solve_row(const MatrixView<double>& a, int64_t i, int64_t begin, int64_t end) {
  double* row = &a(i, 0);
  for (int64_t j = begin; j < end; ++j)
    row[j] = (row[j] - cpu::dot(row + begin, &a(j, begin), j - begin)) / a(j, j);
}

}  // namespace

int64_t factor_cholesky(const MatrixView<double>& a) {
  for (int64_t begin = 0; begin < a.rows; begin += kPanel) {
    const int64_t end = std::min(a.rows, begin + kPanel);
    for (int64_t i = begin; i < end; ++i) {
      solve_row(a, i, begin, i);
      const double* row = &a(i, begin);
      const double pivot = a(i, i) - cpu::dot(row, row, i - begin);
      if (!(pivot > 0)) return i;
      a(i, i) = std::sqrt(pivot);
    }
    parallel_for((a.rows - end + kRows - 1) / kRows, [&](int64_t task) {
      const int64_t first = end + task * kRows;
      for (int64_t i = first; i < std::min(a.rows, first + kRows); ++i) solve_row(a, i, begin, end);
    });
    for (int64_t j = end; j < a.rows; j += kColumns) {
      const int64_t columns = std::min(kColumns, a.rows - j), rows = a.rows - j;
      multiply(a.block(j, begin, rows, end - begin),
               a.block(j, begin, columns, end - begin).transposed(), a.block(j, j, rows, columns),
               Update::kSubtract);
    }
  }
  return -1;
}

Tensor cholesky(const Tensor& tensor) {
  const MatrixStack stack("cholesky", tensor);
  check_square("cholesky", stack);
  const ScopedTag tag("cholesky");
  const int64_t size = stack.rows();
  Buffer made = doubles(stack.count() * size * size);
  auto* out = made.mutable_as<double>();
  for_matrices(stack.count(), [&](int64_t place) {
    const MatrixView<double> a{out + place * size * size, size, size, size};
    load_doubles(stack[place], a);
    const int64_t column = factor_cholesky(a);
    if (column >= 0)
      throw_error<InvalidArgumentError>("cholesky", "the matrix is not positive definite",
                                        {{"column", column}});
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = i + 1; j < size; ++j) a(i, j) = 0;
  });
  return store_doubles(std::move(made), stack.dtype(), tensor.shape());
}

Tensor solve_cholesky(const Tensor& l, const Tensor& b) {
  constexpr std::string_view kOp = "solve_cholesky";
  const MatrixStack factor(kOp, l), right(kOp, b);
  check_square(kOp, factor);
  if (right.rows() != factor.rows())
    throw_error<InvalidArgumentError>(kOp, "the right side has another number of rows",
                                      {{"rows", right.rows()}, {"expected", factor.rows()}});
  const ScopedTag tag(kOp);
  const Shape lead = broadcast(kOp, factor.lead, right.lead);
  const MatrixStack factors = factor.broadcast_to(lead), rights = right.broadcast_to(lead);
  const int64_t size = right.rows(), columns = right.columns(), count = num_elements(lead);
  Buffer made = doubles(count * size * columns);
  auto* out = made.mutable_as<double>();
  for_matrices(count, [&](int64_t place) {
    Buffer room = doubles(size * size);
    const MatrixView<double> lower{room.mutable_as<double>(), size, size, size};
    const MatrixView<double> x{out + place * size * columns, size, columns, columns};
    load_doubles(factors[place], lower);
    load_doubles(rights[place], x);
    solve_triangular(lower, Triangle::kLower, x);
    solve_triangular(lower.transposed(), Triangle::kUpper, x);
  });
  const bool narrow = factor.dtype() == right.dtype();
  return store_doubles(std::move(made), narrow ? factor.dtype() : Dtype(TypeId::kFloat64),
                       stacked(lead, {size, columns}));
}

}  // namespace hr
