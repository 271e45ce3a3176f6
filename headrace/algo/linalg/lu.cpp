// SPDX-License-Identifier: Apache-2.0
// Elimination by halves of the columns, down to panels.
#include "headrace/algo/linalg/lu.h"

#include "headrace/algo/linalg/lu_kernels.h"
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/triangular.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace hr {
namespace {

constexpr int64_t kTaskColumns = 64;  // of rows that are exchanged
constexpr int64_t kExchanges = int64_t{1} << 15;

struct Lu {
  MatrixView<double> factors;   ///< unit lower and upper triangle in one
  std::vector<int64_t> order;   ///< rows of the matrix, as the factors have them
  std::vector<int64_t> pivots;  ///< the row that each row was exchanged with
  Buffer panel;                 ///< kLuColumns columns side by side
  int64_t singular = -1;        ///< column of the first pivot that is zero
  bool odd = false;             ///< of the exchanges
};

/// Exchanges rows [begin, end) with their pivots' in columns [first, last).
void exchange_rows(const Lu& lu, int64_t begin, int64_t end, int64_t first, int64_t last) {
  const int64_t step = (end - begin) * (last - first) < kExchanges ? last - first : kTaskColumns;
  parallel_for(divide_up(last - first, std::max<int64_t>(1, step)), [&](int64_t task) {
    const int64_t column = first + task * step, count = std::min(step, last - column);
    for (int64_t k = begin; k < end; ++k) {
      const int64_t pivot = lu.pivots[static_cast<size_t>(k)];
      if (pivot == k) continue;
      double* const row = &lu.factors(k, column);
      std::swap_ranges(row, row + count, &lu.factors(pivot, column));
    }
  });
}

/// Eliminates below the diagonal of columns [begin, end), kLuColumns at most, in these alone.
void factor_panel(Lu& lu, int64_t begin, int64_t end) {
  const MatrixView<double> a = lu.factors.block(begin, begin, lu.factors.rows - begin, end - begin);
  double* const panel = lu.panel.mutable_as<double>();
  for (int64_t i = 0; i < a.rows; ++i) {
    double* const to = panel + i * cpu::kLuColumns;
    std::copy_n(&a(i, 0), a.columns, to);
    std::fill(to + a.columns, to + cpu::kLuColumns, 0.0);
  }
  const int64_t singular =
      cpu::factor_panel(panel, a.rows, a.columns, &lu.pivots[static_cast<size_t>(begin)]);
  if (singular >= 0 && lu.singular < 0) lu.singular = begin + singular;
  for (int64_t i = 0; i < a.rows; ++i)
    std::copy_n(panel + i * cpu::kLuColumns, a.columns, &a(i, 0));
  for (int64_t k = begin; k < end; ++k) {
    int64_t& pivot = lu.pivots[static_cast<size_t>(k)];
    pivot += begin;
    std::swap(lu.order[static_cast<size_t>(k)], lu.order[static_cast<size_t>(pivot)]);
    lu.odd ^= pivot != k;
  }
}

/// Eliminates below the diagonal of columns [begin, end): the left half, what it changes in the
/// right one, and that half (Toledo: Locality of reference in LU decomposition, 1997). So most of
/// the work is long products.
void factor_columns(Lu& lu, int64_t begin, int64_t end) {
  if (end - begin <= cpu::kLuColumns) return factor_panel(lu, begin, end);
  const int64_t panels = divide_up(end - begin, cpu::kLuColumns);
  const int64_t middle = begin + (panels + 1) / 2 * cpu::kLuColumns;
  const int64_t left = middle - begin, right = end - middle, rest = lu.factors.rows - middle;
  factor_columns(lu, begin, middle);
  exchange_rows(lu, begin, middle, middle, end);
  const MatrixView<double> upper = lu.factors.block(begin, middle, left, right);
  solve_triangular(lu.factors.block(begin, begin, left, left), Triangle::kUnitLower, upper);
  multiply(lu.factors.block(middle, begin, rest, left), upper,
           lu.factors.block(middle, middle, rest, right), Update::kSubtract);
  factor_columns(lu, middle, end);
  exchange_rows(lu, middle, end, begin, middle);
}

/// Factors of the matrix in `a`, in its place.
Lu factor_lu(const MatrixView<double>& a) {
  const auto size = static_cast<size_t>(a.rows);
  Lu lu{a, std::vector<int64_t>(size), std::vector<int64_t>(size),
        doubles(a.rows * cpu::kLuColumns)};
  std::iota(lu.order.begin(), lu.order.end(), 0);
  if (a.rows > 0) factor_columns(lu, 0, a.rows);
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

std::string why_no_lu_kernel(const Tensor& a) {
  if (a.num_dimensions() != 2) return "stacks of matrices have no kernel for CUDA";
  if (a.dtype() != Dtype(TypeId::kFloat64)) return "this dtype has no kernel for CUDA";
  const bool fits = a.num_elements() > 0 && a.shape()[0] <= cuda::kMostEquations;
  return fits ? "" : "matrices of this size have no kernel for CUDA";
}

std::string why_no_solve_kernel(const Tensor& a, const Tensor& b) {
  if (std::string why = why_no_lu_kernel(a); !why.empty()) return why;
  if (b.num_dimensions() != 2) return "stacks of matrices have no kernel for CUDA";
  if (b.dtype() != Dtype(TypeId::kFloat64)) return "this dtype has no kernel for CUDA";
  const bool fits = b.num_elements() > 0 && b.shape()[1] <= cuda::kMostSides;
  return fits ? "" : "this many right sides have no kernel for CUDA";
}

namespace {

/// Refuses what has no kernel on a device.
void check_kernel(std::string_view op, const std::string& why) {
  if (!why.empty())
    throw_error<UnsupportedError>(op, why, {}, "move the values first: x.to('cpu')");
}

Tensor unless_singular(std::string_view op, int64_t column, const Shape& shape, Buffer made) {
  if (column >= 0)
    throw_error<InvalidArgumentError>(op, "the matrix is singular", {{"column", column}});
  return Tensor(TypeId::kFloat64, shape, std::move(made));
}

Buffer room_at(std::string_view op, const Shape& shape, Place place) {
  return allocate_result(checked_multiply(op, num_elements(shape), int64_t{sizeof(double)}), place);
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b) {
  const MatrixStack left("solve", a), right("solve", b);
  check_square("solve", left);
  if (right.rows() != left.rows())
    throw_error<InvalidArgumentError>("solve", "the right side has another number of rows",
                                      {{"rows", right.rows()}, {"expected", left.rows()}});
  const ScopedTag tag("solve");
  if constexpr (built_with_cuda)
    if (a.place().is_gpu()) {
      check_kernel("solve", why_no_solve_kernel(a, b));
      Buffer made = room_at("solve", b.shape(), a.place());
      const int64_t singular = cuda::solve(a, b, made);
      return unless_singular("solve", singular, b.shape(), std::move(made));
    }
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
  if constexpr (built_with_cuda)
    if (a.place().is_gpu()) {
      check_kernel("inv", why_no_lu_kernel(a));
      Buffer made = room_at("inv", a.shape(), a.place());
      const int64_t singular = cuda::inv(a, made);
      return unless_singular("inv", singular, a.shape(), std::move(made));
    }
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

/// `end(diagonal, odd, singular, place)` of the factors of each matrix.
template <class F>
void for_diagonals(std::string_view op, const MatrixStack& stack, const F& end) {
  check_square(op, stack);
  const ScopedTag tag(op);
  if constexpr (built_with_cuda)
    if (stack.x.place().is_gpu()) {
      check_kernel(op, why_no_lu_kernel(stack.x));
      const cuda::LuDiagonal made = cuda::lu_diagonal(op, stack.x);
      return end(made.values, made.odd, made.singular, 0);
    }
  const int64_t size = stack.rows();
  for_matrices(stack.count(), [&](int64_t place) {
    Buffer room = doubles(size * size);
    const MatrixView<double> factors{room.mutable_as<double>(), size, size, size};
    load_doubles(stack[place], factors);
    const Lu lu = factor_lu(factors);
    std::vector<double> diagonal(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) diagonal[static_cast<size_t>(i)] = factors(i, i);
    end(diagonal, lu.odd, lu.singular, place);
  });
}

/// One number for each matrix of a stack, where the stack lies.
Tensor store_each(Buffer values, const MatrixStack& stack) {
  const Tensor made = store_doubles(std::move(values), stack.dtype(), stack.lead);
  const Place place = stack.x.place();
  return place.is_gpu() ? to_place(made, place, current_stream(place)) : made;
}

}  // namespace

Tensor det(const Tensor& a) {
  const MatrixStack stack("det", a);
  Buffer made = doubles(stack.count());
  auto* out = made.mutable_as<double>();
  for_diagonals("det", stack,
                [&](const std::vector<double>& diagonal, bool odd, int64_t, int64_t place) {
                  double product = odd ? -1 : 1;
                  for (const double pivot : diagonal) product *= pivot;
                  out[place] = product;
                });
  return store_each(std::move(made), stack);
}

Slogdet slogdet(const Tensor& a) {
  const MatrixStack stack("slogdet", a);
  Buffer signs = doubles(stack.count()), logs = doubles(stack.count());
  auto *sign = signs.mutable_as<double>(), *log = logs.mutable_as<double>();
  for_diagonals(
      "slogdet", stack,
      [&](const std::vector<double>& diagonal, bool odd, int64_t singular, int64_t place) {
        sign[place] = singular >= 0 ? 0 : odd ? -1 : 1;
        log[place] = singular >= 0 ? -std::numeric_limits<double>::infinity() : 0;
        if (singular >= 0) return;
        for (const double pivot : diagonal) {
          if (pivot < 0) sign[place] = -sign[place];
          log[place] += std::log(std::fabs(pivot));
        }
      });
  return {store_each(std::move(signs), stack), store_each(std::move(logs), stack)};
}

}  // namespace hr
