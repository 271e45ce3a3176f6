// SPDX-License-Identifier: Apache-2.0
// Rotations of pairs of rows until all are orthogonal.
#include "headrace/algo/linalg/svd.h"

#include "headrace/algo/linalg/condensed.h"
#include "headrace/algo/linalg/eigh.h"
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/qr.h"
#include "headrace/algo/linalg/quotients.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace hr {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kNothing = 1e-280;  // the square of a row that counts as zero among entries of 1
constexpr int kMostSweeps = 60;
constexpr int64_t kTaskValues = 16384;  // of the rows that a task turns

/// The cosine of rows that count as orthogonal.
double bound_of(int64_t columns) {
  return kEpsilon * std::sqrt(static_cast<double>(columns));
}

bool is_oblique(double product, double square, double other_square, double bound) {
  return std::fabs(product) > bound * std::sqrt(square) * std::sqrt(other_square);
}

/// Makes a pair of rows orthogonal, and does the same to those of `turns`. False if they were.
bool rotate(const MatrixView<double>& rows, const MatrixView<double>& turns, double* squares,
            int64_t p, int64_t q) {
  const double product = cpu::dot(&rows(p, 0), &rows(q, 0), rows.columns);
  if (!is_oblique(product, squares[p], squares[q], bound_of(rows.columns))) return false;
  const double zeta = (squares[q] - squares[p]) / (2 * product);
  const double tangent = std::copysign(1, zeta) / (std::fabs(zeta) + std::hypot(1, zeta));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent);
  cpu::rotate_rows(&rows(p, 0), &rows(q, 0), cosine, -cosine * tangent, rows.columns);
  if (turns.rows > 0)
    cpu::rotate_rows(&turns(p, 0), &turns(q, 0), cosine, -cosine * tangent, turns.columns);
  const int64_t less = squares[p] < squares[q] ? p : q, more = p + q - less;
  const double moved = std::fabs(tangent * product), before = squares[less];
  squares[more] += moved;
  squares[less] -= moved;
  if (squares[less] < 0.1 * before)  // too few digits are left
    squares[less] = cpu::dot(&rows(less, 0), &rows(less, 0), rows.columns);
  return true;
}

/// Turns rows of about one size by the eigenvectors of their products, all at once: what rotations
/// have to do then is little. Rows far apart in size are left apart, so that the small ones keep
/// their digits. `rows` is upper triangular with a falling diagonal, `turns` the identity.
void turn_together(const MatrixView<double>& rows, const MatrixView<double>& turns) {
  constexpr double kApart = 0x1p-13;
  constexpr int64_t kFewRows = 16;
  const int64_t size = rows.rows;
  for (int64_t begin = 0, end = 0; begin < size; begin = end) {
    const double largest = std::fabs(rows(begin, begin));
    for (end = begin + 1; end < size && std::fabs(rows(end, end)) > kApart * largest;) ++end;
    const int64_t count = end - begin;
    if (count < kFewRows) continue;
    Buffer room = doubles(count * (count + size) + 4 * count);
    auto* next = room.mutable_as<double>();
    const MatrixView<double> vectors{next, count, count, count};
    const MatrixView<double> made{next + count * count, count, size, size};
    double* const values = next + count * (count + size);
    const MatrixView<double> part = rows.block(begin, 0, count, size);
    multiply(part, part.transposed(), vectors);
    eigh(vectors.data, values, values + count, count);
    multiply(vectors, part, made);
    load_doubles(made, part);
    if (turns.rows > 0) load_doubles(vectors, turns.block(begin, begin, count, count));
  }
}

/// Turns `rows` until they are orthogonal. A sweep turns the pairs that were not before it. A round
/// takes disjoint pairs, as in a tournament, so that workers share it and the order is one for any
/// number of them.
void orthogonalize_rows(const MatrixView<double>& rows, const MatrixView<double>& turns) {
  const int64_t size = rows.rows, seats = size + size % 2;
  Buffer room = doubles(size * (size + 1));
  const MatrixView<double> products{room.mutable_as<double>(), size, size, size};
  double* const squares = products.data + size * size;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    multiply(rows, rows.transposed(), products);
    for (int64_t i = 0; i < size; ++i) {
      squares[i] = products(i, i);
      if (squares[i] >= kNothing) continue;
      squares[i] = 0;
      std::fill(&rows(i, 0), &rows(i, 0) + rows.columns, 0.0);
    }
    const double bound = bound_of(rows.columns);
    for (int64_t q = 0; q < size; ++q)
      for (int64_t p = 0; p < q; ++p)
        products(p, q) = is_oblique(products(q, p), squares[p], squares[q], bound);
    std::atomic<bool> any = false;
    const int64_t step =
        std::max<int64_t>(1, kTaskValues / std::max<int64_t>(1, rows.columns + turns.columns));
    for (int64_t round = 0; round + 1 < seats; ++round)
      parallel_for((seats / 2 + step - 1) / step, [&](int64_t task) {
        for (int64_t k = task * step; k < std::min(seats / 2, (task + 1) * step); ++k) {
          const auto seat = [&](int64_t at) {
            return at == 0 ? 0 : 1 + (at - 1 + round) % (seats - 1);
          };
          const int64_t one = seat(k), other = seat(seats - 1 - k);
          const int64_t p = std::min(one, other), q = std::max(one, other);
          if (q < size && products(p, q) != 0 && rotate(rows, turns, squares, p, q))
            any.store(true, std::memory_order_relaxed);
        }
      });
    if (!any) return;
  }
  throw_error<InternalError>("svd", "the rotations did not converge", {{"size", size}});
}

/// Length without overflow.
double length_of(const double* x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
  if (largest == 0) return 0;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * std::sqrt(sum);
}

/// Completes `count` orthonormal rows to a basis.
void complete(const MatrixView<double>& rows, int64_t count) {
  if (count == rows.rows) return;
  Buffer room = doubles(count * rows.columns);
  const MatrixView<double> there{room.mutable_as<double>(), count, rows.columns, rows.columns};
  load_doubles(rows.block(0, 0, count, rows.columns), there);
  const Reflections reflections(there);
  const MatrixView<double> rest = rows.block(count, 0, rows.rows - count, rows.columns);
  for (int64_t i = 0; i < rest.rows; ++i) {
    std::fill(&rest(i, 0), &rest(i, 0) + rest.columns, 0.0);
    rest(i, count + i) = 1;
  }
  reflections.apply(rest);
}

void check_finite(const MatrixView<double>& a) {
  for (int64_t j = 0; j < a.rows; ++j)
    for (int64_t i = 0; i < a.columns; ++i)
      if (!std::isfinite(a(j, i)))
        throw_error<InvalidArgumentError>("svd", "an entry is not finite");
}

/// The values, falling, of a square matrix whose entries are at most 2; false where the smallest
/// would lose digits to the largest.
bool find_values(const MatrixView<double>& a, double* values) {
  constexpr double kApart = 0x1p-16;
  const int64_t size = a.rows;
  Buffer diagonals = doubles(2 * size);
  auto *diagonal = diagonals.mutable_as<double>(), *beside = diagonal + size;
  reduce_to_bidiagonal(a, diagonal, beside);
  if (!bidiagonal_values(diagonal, beside, values, size)) return false;
  std::sort(values, values + size, std::greater<>());
  return size == 0 || values[size - 1] > kApart * values[0];
}

/// Parts of one decomposition, as rows: of a matrix with `length` rows and `size` columns, no more.
struct Parts {
  MatrixView<double> left;   ///< [kept, length], rows are columns of U; none kept: no vectors
  MatrixView<double> right;  ///< [size, size], rows of V^T; always wanted as room
  double* values;            ///< [size]
};

/// Decomposes the matrix whose columns are the rows of `columns`, which is used up.
void decompose(const MatrixView<double>& columns, const Parts& to) {
  const int64_t size = columns.rows, length = columns.columns;
  check_finite(columns);
  double largest = 0;
  for (int64_t j = 0; j < size; ++j)
    for (int64_t i = 0; i < length; ++i) largest = std::max(largest, std::fabs(columns(j, i)));
  const int exponent = largest > 0 ? std::clamp(std::ilogb(largest), -1000, 1000) : 0;
  for (int64_t j = 0; j < size; ++j)
    for (int64_t i = 0; i < length; ++i) columns(j, i) *= std::ldexp(1, -exponent);
  // A tall matrix first loses its rows, by blocks; the triangle that is left, with its columns in
  // falling order, needs few sweeps and keeps small values apart from large ones.
  const bool tall = length > size, with_vectors = to.left.rows > 0;
  std::optional<Reflections> upright;
  if (tall) upright.emplace(columns);
  Buffer room = doubles(size * size * (with_vectors ? 3 : 2));
  const MatrixView<double> triangle{room.mutable_as<double>(), size, size, size};
  const MatrixView<double> rows{triangle.data + size * size, size, size, size};
  const MatrixView<double> turns{rows.data + size * size, with_vectors ? size : 0,
                                 with_vectors ? size : 0, size};
  for (int64_t j = 0; j < size; ++j)
    for (int64_t i = 0; i < size; ++i) triangle(j, i) = tall ? upright->r(i, j) : columns(j, i);
  if (!with_vectors && find_values(triangle, to.values)) {
    for (int64_t i = 0; i < size; ++i) to.values[i] = std::ldexp(to.values[i], exponent);
    return;
  }
  std::vector<int64_t> order, column;
  const Reflections reflections(triangle, column);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      rows(i, j) = reflections.r(i, j);
      if (with_vectors) turns(i, j) = i == j;
    }
  turn_together(rows, turns);
  orthogonalize_rows(rows, turns);
  std::vector<double> lengths(static_cast<size_t>(size));
  order.resize(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i < size; ++i) lengths[static_cast<size_t>(i)] = length_of(&rows(i, 0), size);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return lengths[static_cast<size_t>(a)] > lengths[static_cast<size_t>(b)];
  });
  int64_t rank = 0;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    const double value = lengths[static_cast<size_t>(from)];
    to.values[i] = std::ldexp(value, exponent);
    if (!with_vectors) continue;
    rank += value > 0;
    for (int64_t j = 0; j < size && value > 0; ++j)
      to.right(i, column[static_cast<size_t>(j)]) = rows(from, j) / value;
    double* left = &to.left(i, 0);
    std::copy_n(&turns(from, 0), size, left);
    std::fill(left + size, left + length, 0.0);
  }
  if (!with_vectors) return;
  complete(to.right, rank);
  for (int64_t i = size; i < to.left.rows; ++i) {
    std::fill(&to.left(i, 0), &to.left(i, 0) + length, 0.0);
    to.left(i, i) = 1;
  }
  reflections.apply(to.left.block(0, 0, size, size));
  if (tall) upright->apply(to.left);
}

}  // namespace

Svd svd(const Tensor& a, SvdVectors vectors) {
  const MatrixStack stack("svd", a);
  const ScopedTag tag("svd");
  const int64_t rows = stack.rows(), columns = stack.columns();
  const bool wide = rows < columns, full = vectors == SvdVectors::kFull;
  const int64_t size = std::min(rows, columns), length = std::max(rows, columns);
  const bool with_vectors = vectors != SvdVectors::kNone && length > 0;
  const int64_t kept = !with_vectors ? 0 : full ? length : size;
  const int64_t u_columns = full ? rows : size, vh_rows = full ? columns : size;
  Buffer u = doubles(with_vectors ? stack.count() * rows * u_columns : 0);
  Buffer vh = doubles(with_vectors ? stack.count() * vh_rows * columns : 0);
  Buffer values = doubles(stack.count() * size);
  auto *u_out = u.mutable_as<double>(), *vh_out = vh.mutable_as<double>();
  auto* s_out = values.mutable_as<double>();
  for_matrices(stack.count(), [&](int64_t place) {
    Buffer room = doubles(size * length + kept * length + size * size);
    auto* next = room.mutable_as<double>();
    const MatrixView<double> turned{next, size, length, length};
    const MatrixView<double> left{next + size * length, kept, length, length};
    const MatrixView<double> right{next + (size + kept) * length, size, size, size};
    const AnyMatrix from = stack[place];
    load_doubles(wide ? from : from.transposed(), turned);
    decompose(turned, {left, right, s_out + place * size});
    if (!with_vectors) return;
    const MatrixView<double> u_to{u_out + place * rows * u_columns, rows, u_columns, u_columns};
    const MatrixView<double> vh_to{vh_out + place * vh_rows * columns, vh_rows, columns, columns};
    load_doubles((wide ? right : left).transposed(), u_to);
    load_doubles(wide ? left : right, vh_to);
  });
  Svd made;
  made.s = store_doubles(std::move(values), stack.dtype(), stacked(stack.lead, {size}));
  if (vectors == SvdVectors::kNone) return made;
  made.u = store_doubles(std::move(u), stack.dtype(), stacked(stack.lead, {rows, u_columns}));
  made.vh = store_doubles(std::move(vh), stack.dtype(), stacked(stack.lead, {vh_rows, columns}));
  return made;
}

Lstsq lstsq(const Tensor& a, const Tensor& b, double cutoff) {
  const MatrixStack left("lstsq", a), right("lstsq", b);
  if (!left.lead.empty() || !right.lead.empty() || left.rows() != right.rows())
    throw_error<InvalidArgumentError>("lstsq", "expected two matrices with as many rows",
                                      {{"left", left.rows()}, {"right", right.rows()}});
  const ScopedTag tag("lstsq");
  const int64_t rows = left.rows(), columns = left.columns(), count = right.columns();
  const int64_t size = std::min(rows, columns);
  // In float64 to the end: the parts are rounded once.
  Buffer wide = doubles(rows * columns);
  load_doubles(left[0], {wide.mutable_as<double>(), rows, columns, columns});
  const Tensor matrix(TypeId::kFloat64, {rows, columns}, std::move(wide));
  const Svd parts = svd(matrix);
  const auto* s = parts.s.as<double>();
  Lstsq made;
  while (made.rank < size && s[made.rank] > cutoff * s[0]) ++made.rank;
  const auto view = [](const Tensor& x) {
    return MatrixView<const double>{x.as<double>(), x.shape()[0], x.shape()[1], x.shape()[1]};
  };
  Buffer along = doubles(size * count), solution = doubles(columns * count);
  const MatrixView<double> coordinates{along.mutable_as<double>(), made.rank, count, count};
  multiply(view(parts.u).transposed().block(0, 0, made.rank, rows), right[0], coordinates);
  for (int64_t i = 0; i < made.rank; ++i)
    for (int64_t j = 0; j < count; ++j) coordinates(i, j) /= s[i];
  const MatrixView<double> x{solution.mutable_as<double>(), columns, count, count};
  multiply(view(parts.vh).transposed().block(0, 0, columns, made.rank), coordinates, x);
  const bool narrow = left.dtype() == right.dtype();
  const Dtype dtype = narrow ? left.dtype() : Dtype(TypeId::kFloat64);
  const bool with_residuals = made.rank == columns && rows > columns;
  Buffer squares = doubles(with_residuals ? count : 0);
  if (with_residuals) {
    Buffer rest = doubles(rows * count);
    const MatrixView<double> residual{rest.mutable_as<double>(), rows, count, count};
    load_doubles(right[0], residual);
    multiply(view(matrix), x, residual, Update::kSubtract);
    auto* sums = squares.mutable_as<double>();
    std::fill(sums, sums + count, 0.0);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < count; ++j) sums[j] += residual(i, j) * residual(i, j);
  }
  made.residuals = store_doubles(std::move(squares), dtype, {with_residuals ? count : 0});
  made.x = store_doubles(std::move(solution), dtype, {columns, count});
  Buffer kept = doubles(size);
  std::copy_n(s, size, kept.mutable_as<double>());
  made.s = store_doubles(std::move(kept), dtype, {size});
  return made;
}

}  // namespace hr
