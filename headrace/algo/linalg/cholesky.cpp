// SPDX-License-Identifier: Apache-2.0
// By halves, so that most of the work is products of large blocks.
#include "headrace/algo/linalg/cholesky.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matmul_kernels.h"
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

constexpr int64_t kBlock = cpu::kTriangleRows;  // factored by rows
constexpr int64_t kStrip = 32;                  // rows that are solved side by side
constexpr int64_t kTaskStrips = 4;
constexpr int64_t kColumns = 128;  // that are brought up to date together: the rest is symmetric

/// The part that halves leave to the first one: whole blocks.
int64_t half_of(int64_t size) {
  return (size / 2 + kBlock - 1) / kBlock * kBlock;
}

int64_t factor_block(const MatrixView<double>& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    double* row = &a(i, 0);
    for (int64_t j = 0; j < i; ++j) row[j] = (row[j] - cpu::dot(row, &a(j, 0), j)) / a(j, j);
    const double pivot = row[i] - cpu::dot(row, row, i);
    if (!(pivot > 0)) return i;
    row[i] = std::sqrt(pivot);
  }
  return -1;
}

/// X of X L^T = B in the place of B.
void solve_turned(const MatrixView<double>& l, const MatrixView<double>& b) {
  if (l.rows > kBlock) {
    const int64_t half = half_of(l.rows), rest = l.rows - half;
    const MatrixView<double> left = b.block(0, 0, b.rows, half);
    const MatrixView<double> right = b.block(0, half, b.rows, rest);
    solve_turned(l.block(0, 0, half, half), left);
    multiply(left, l.block(half, 0, rest, half).transposed(), right, Update::kSubtract);
    return solve_turned(l.block(half, half, rest, rest), right);
  }
  const int64_t strips = (b.rows + kStrip - 1) / kStrip;
  parallel_for((strips + kTaskStrips - 1) / kTaskStrips, [&](int64_t task) {
    double turned[kBlock * kStrip];
    for (int64_t strip = task * kTaskStrips; strip < std::min(strips, (task + 1) * kTaskStrips);
         ++strip) {
      const int64_t first = strip * kStrip, count = std::min(kStrip, b.rows - first);
      const MatrixView<double> rows = b.block(first, 0, count, l.rows);
      const MatrixView<double> columns{turned, l.rows, count, kStrip};
      cpu::pack(rows, kStrip, turned);
      cpu::substitute(l, Triangle::kLower, columns);
      load_doubles(columns.transposed(), rows);
    }
  });
}

}  // namespace

int64_t factor_cholesky(const MatrixView<double>& a) {
  if (a.rows <= kBlock) return factor_block(a);
  const int64_t half = half_of(a.rows), rest = a.rows - half;
  int64_t column = factor_cholesky(a.block(0, 0, half, half));
  if (column >= 0) return column;
  const MatrixView<double> below = a.block(half, 0, rest, half);
  solve_turned(a.block(0, 0, half, half), below);
  for (int64_t j = 0; j < rest; j += kColumns) {
    const int64_t columns = std::min(kColumns, rest - j), rows = rest - j;
    multiply(below.block(j, 0, rows, half), below.block(j, 0, columns, half).transposed(),
             a.block(half + j, half + j, rows, columns), Update::kSubtract);
  }
  column = factor_cholesky(a.block(half, half, rest, rest));
  return column < 0 ? column : half + column;
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
