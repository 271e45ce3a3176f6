// SPDX-License-Identifier: Apache-2.0
// Elimination in panels of 32 columns.
#include "headrace/algo/linalg/lu.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/algo/linalg/triangular.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace hr {
namespace {

constexpr int64_t kPanel = 32;

struct Lu {
  MatrixView<double> factors;  ///< unit lower and upper triangle in one
  std::vector<int64_t> order;  ///< rows of the matrix, as the factors have them
  int64_t singular = -1;       ///< column of the first pivot that is zero
  bool odd = false;            ///< of the exchanges
};

void exchange_rows(Lu& lu, int64_t i, int64_t j) {
  if (i == j) return;
  double* row = &lu.factors(i, 0);
  std::swap_ranges(row, row + lu.factors.columns, &lu.factors(j, 0));
  std::swap(lu.order[static_cast<size_t>(i)], lu.order[static_cast<size_t>(j)]);
  lu.odd = !lu.odd;
}

/// Eliminates below the diagonal of columns [begin, end), in these columns alone.
void factor_panel(Lu& lu, int64_t begin, int64_t end) {
  const MatrixView<double>& a = lu.factors;
  for (int64_t k = begin; k < end; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    exchange_rows(lu, k, pivot);
    if (a(k, k) == 0) {
      if (lu.singular < 0) lu.singular = k;
      continue;
    }
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      cpu::add_scaled(&a(i, k) + 1, -a(i, k), &a(k, k) + 1, end - k - 1);
    }
  }
}

/// Factors of the matrix in `a`, in its place.
Lu factor_lu(const MatrixView<double>& a) {
  Lu lu{a, std::vector<int64_t>(static_cast<size_t>(a.rows))};
  std::iota(lu.order.begin(), lu.order.end(), 0);
  for (int64_t begin = 0; begin < a.rows; begin += kPanel) {
    const int64_t end = std::min(a.rows, begin + kPanel), rest = a.rows - end;
    factor_panel(lu, begin, end);
    const MatrixView<double> right = a.block(begin, end, end - begin, rest);
    solve_triangular(a.block(begin, begin, end - begin, end - begin), Triangle::kUnitLower, right);
    multiply(a.block(end, begin, rest, end - begin), right, a.block(end, end, rest, rest),
             Update::kSubtract);
  }
  return lu;
}

/// X of A X = B, where `load_row(row, to)` gives a row of B.
template <class F>
void solve_into(std::string_view op, const AnyMatrix& a, const MatrixView<double>& x,
                const F& load_row) {
  Buffer room = doubles(a.rows * a.rows);
  const MatrixView<double> factors{room.mutable_as<double>(), a.rows, a.rows, a.rows};
  load_doubles(a, factors);
  const Lu lu = factor_lu(factors);
  if (lu.singular >= 0)
    throw_error<InvalidArgumentError>(op, "the matrix is singular", {{"column", lu.singular}});
  for (int64_t i = 0; i < x.rows; ++i) load_row(lu.order[static_cast<size_t>(i)], &x(i, 0));
  solve_triangular(factors, Triangle::kUnitLower, x);
  solve_triangular(factors, Triangle::kUpper, x);
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b) {
  const MatrixStack left("solve", a), right("solve", b);
  check_square("solve", left);
  if (right.rows() != left.rows())
    throw_error<InvalidArgumentError>("solve", "the right side has another number of rows",
                                      {{"rows", right.rows()}, {"expected", left.rows()}});
  const ScopedTag tag("solve");
  const Shape lead = broadcast("solve", left.lead, right.lead);
  const MatrixStack lefts = left.broadcast_to(lead), rights = right.broadcast_to(lead);
  const int64_t size = right.rows(), columns = right.columns(), count = num_elements(lead);
  Buffer made = doubles(count * size * columns);
  auto* out = made.mutable_as<double>();
  for_matrices(count, [&](int64_t place) {
    const AnyMatrix from = rights[place];
    solve_into("solve", lefts[place], {out + place * size * columns, size, columns, columns},
               [&](int64_t row, double* to) {
                 load_doubles(from.block(row, 0, 1, columns), {to, 1, columns, columns});
               });
  });
  const bool narrow = left.dtype() == right.dtype();
  return store_doubles(std::move(made), narrow ? left.dtype() : Dtype(TypeId::kFloat64),
                       stacked(lead, {size, columns}));
}

Tensor inv(const Tensor& a) {
  const MatrixStack stack("inv", a);
  check_square("inv", stack);
  const ScopedTag tag("inv");
  const int64_t size = stack.rows();
  Buffer made = doubles(stack.count() * size * size);
  auto* out = made.mutable_as<double>();
  for_matrices(stack.count(), [&](int64_t place) {
    solve_into("inv", stack[place], {out + place * size * size, size, size, size},
               [&](int64_t row, double* to) {
                 std::fill(to, to + size, 0.0);
                 to[row] = 1;
               });
  });
  return store_doubles(std::move(made), stack.dtype(), a.shape());
}

namespace {

/// `end(lu, place)` of the factors of each matrix.
template <class F>
void for_factors(std::string_view op, const MatrixStack& stack, const F& end) {
  check_square(op, stack);
  const ScopedTag tag(op);
  const int64_t size = stack.rows();
  for_matrices(stack.count(), [&](int64_t place) {
    Buffer room = doubles(size * size);
    const MatrixView<double> factors{room.mutable_as<double>(), size, size, size};
    load_doubles(stack[place], factors);
    end(factor_lu(factors), place);
  });
}

}  // namespace

Tensor det(const Tensor& a) {
  const MatrixStack stack("det", a);
  Buffer made = doubles(stack.count());
  auto* out = made.mutable_as<double>();
  for_factors("det", stack, [&](const Lu& lu, int64_t place) {
    double product = lu.odd ? -1 : 1;
    for (int64_t i = 0; i < lu.factors.rows; ++i) product *= lu.factors(i, i);
    out[place] = product;
  });
  return store_doubles(std::move(made), stack.dtype(), stack.lead);
}

Slogdet slogdet(const Tensor& a) {
  const MatrixStack stack("slogdet", a);
  Buffer signs = doubles(stack.count()), logs = doubles(stack.count());
  auto *sign = signs.mutable_as<double>(), *log = logs.mutable_as<double>();
  for_factors("slogdet", stack, [&](const Lu& lu, int64_t place) {
    sign[place] = lu.singular >= 0 ? 0 : lu.odd ? -1 : 1;
    log[place] = lu.singular >= 0 ? -std::numeric_limits<double>::infinity() : 0;
    for (int64_t i = 0; i < lu.factors.rows && lu.singular < 0; ++i) {
      const double pivot = lu.factors(i, i);
      if (pivot < 0) sign[place] = -sign[place];
      log[place] += std::log(std::fabs(pivot));
    }
  });
  return {store_doubles(std::move(signs), stack.dtype(), stack.lead),
          store_doubles(std::move(logs), stack.dtype(), stack.lead)};
}

}  // namespace hr
