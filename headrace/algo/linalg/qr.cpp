// SPDX-License-Identifier: Apache-2.0
// Reflections of a panel one by one, of the rest as one product (compact WY form).
#include "headrace/algo/linalg/qr.h"

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
#include <numeric>

namespace hr {
namespace {

constexpr int64_t kBlock = 32;
constexpr int64_t kTaskValues = 32768;  // that a task reflects

/// Reflects `y` by what `reflect` left in `x`.
void apply_one(const double* x, double factor, double* y, int64_t count) {
  const double part = factor * (y[0] + cpu::dot(x + 1, y + 1, count - 1));
  y[0] -= part;
  cpu::add_scaled(y + 1, -part, x + 1, count - 1);
}

}  // namespace

double reflect(double* x, int64_t count) {
  double largest = 0;
  for (int64_t i = 1; i < count; ++i) largest = std::max(largest, std::fabs(x[i]));
  if (largest == 0 && !std::isnan(cpu::dot(x + 1, x + 1, count - 1))) return 0;
  largest = std::max(largest, std::fabs(x[0]));
  for (int64_t i = 0; i < count; ++i) x[i] /= largest;
  const double norm = std::sqrt(cpu::dot(x, x, count));
  const double head = x[0] > 0 ? -norm : norm;
  const double factor = (head - x[0]) / head;
  const double below = x[0] - head;
  for (int64_t i = 1; i < count; ++i) x[i] /= below;
  x[0] = head * largest;
  return factor;
}

Reflections::Reflections(const MatrixView<double>& columns)
    : columns_(columns), factors_(doubles(std::min(columns.rows, columns.columns))) {
  auto* factors = factors_.mutable_as<double>();
  const int64_t length = columns_.columns;
  for (int64_t begin = 0; begin < count(); begin += kBlock) {
    const int64_t end = std::min(count(), begin + kBlock);
    for (int64_t k = begin; k < end; ++k) {
      double* x = &columns_(k, k);
      const int64_t rest = length - k;
      factors[k] = reflect(x, rest);
      for (int64_t j = k + 1; j < end && factors[k] != 0; ++j)
        apply_one(x, factors[k], &columns_(j, k), rest);
    }
    apply_block(begin, end, true, columns_.block(end, 0, columns_.rows - end, length));
  }
}

Reflections::Reflections(const MatrixView<double>& columns, std::vector<int64_t>& order)
    : columns_(columns), factors_(doubles(std::min(columns.rows, columns.columns))) {
  auto* factors = factors_.mutable_as<double>();
  const int64_t length = columns_.columns, size = columns_.rows;
  order.resize(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  Buffer room = doubles(2 * size);
  double* const squares = room.mutable_as<double>();  // of what is left of each column
  double* const exact = squares + size;               // as they were last summed
  for (int64_t j = 0; j < size; ++j)
    squares[j] = exact[j] = cpu::dot(&columns_(j, 0), &columns_(j, 0), length);
  for (int64_t k = 0; k < count(); ++k) {
    const int64_t pivot = std::max_element(squares + k, squares + size) - squares;
    double* x = &columns_(k, 0);
    if (pivot != k) {
      std::swap_ranges(x, x + length, &columns_(pivot, 0));
      std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(pivot)]);
      squares[pivot] = squares[k];
      exact[pivot] = exact[k];
    }
    const int64_t rest = length - k;
    factors[k] = reflect(x + k, rest);
    if (factors[k] == 0) continue;
    const int64_t step = std::max<int64_t>(1, kTaskValues / rest);
    parallel_for((size - k - 1 + step - 1) / step, [&](int64_t task) {
      const int64_t first = k + 1 + task * step;
      for (int64_t j = first; j < std::min(size, first + step); ++j) {
        double* y = &columns_(j, k);
        apply_one(x + k, factors[k], y, rest);
        squares[j] -= y[0] * y[0];
        if (squares[j] <= 0.01 * exact[j])  // too few digits are left
          squares[j] = exact[j] = cpu::dot(y + 1, y + 1, rest - 1);
      }
    });
  }
}

void Reflections::apply_block(int64_t begin, int64_t end, bool turned,
                              const MatrixView<double>& rows) const {
  if (rows.rows == 0) return;
  const int64_t size = end - begin, length = columns_.columns - begin;
  Buffer room = doubles(size * length + 2 * size * size + 2 * rows.rows * size);
  auto* next = room.mutable_as<double>();
  const auto matrix = [&](int64_t m, int64_t n) {
    const MatrixView<double> made{next, m, n, n};
    next += m * n;
    return made;
  };
  const MatrixView<double> vectors = matrix(size, length), products = matrix(size, size);
  const MatrixView<double> factor = matrix(size, size), along = matrix(rows.rows, size);
  const MatrixView<double> turned_along = matrix(rows.rows, size);
  for (int64_t k = 0; k < size; ++k) {
    double* vector = &vectors(k, 0);
    std::fill(vector, vector + k, 0.0);
    vector[k] = 1;
    std::copy_n(&columns_(begin + k, begin) + k + 1, length - k - 1, vector + k + 1);
  }
  multiply(vectors, vectors.transposed(), products);
  const auto* factors = factors_.as<double>() + begin;
  for (int64_t i = 0; i < size; ++i) std::fill(&factor(i, 0), &factor(i, 0) + size, 0.0);
  for (int64_t j = 0; j < size; ++j) {
    factor(j, j) = factors[j];
    for (int64_t i = 0; i < j; ++i) {
      double sum = 0;
      for (int64_t k = i; k < j; ++k) sum += factor(i, k) * products(k, j);
      factor(i, j) = -factors[j] * sum;
    }
  }
  const MatrixView<double> part = rows.block(0, begin, rows.rows, length);
  multiply(part, vectors.transposed(), along);
  multiply(along, turned ? factor : factor.transposed(), turned_along);
  multiply(turned_along, vectors, part, Update::kSubtract);
}

void Reflections::apply(const MatrixView<double>& rows) const {
  const int64_t blocks = (count() + kBlock - 1) / kBlock;
  for (int64_t block = blocks - 1; block >= 0; --block)
    apply_block(block * kBlock, std::min(count(), (block + 1) * kBlock), false, rows);
}

void Reflections::make_basis(const MatrixView<double>& rows) const {
  for (int64_t i = 0; i < rows.rows; ++i) {
    std::fill(&rows(i, 0), &rows(i, 0) + rows.columns, 0.0);
    rows(i, i) = 1;
  }
  const int64_t blocks = (count() + kBlock - 1) / kBlock;
  for (int64_t block = blocks - 1; block >= 0; --block) {
    const int64_t begin = block * kBlock;  // rows before it are no part of its vectors
    if (begin < rows.rows)
      apply_block(begin, std::min(count(), begin + kBlock), false,
                  rows.block(begin, 0, rows.rows - begin, rows.columns));
  }
}

Qr qr(const Tensor& a, QrMode mode) {
  const MatrixStack stack("qr", a);
  const ScopedTag tag("qr");
  const int64_t rows = stack.rows(), columns = stack.columns();
  const int64_t kept = mode == QrMode::kComplete ? rows : std::min(rows, columns);
  const bool with_q = mode != QrMode::kR;
  Buffer q = doubles(with_q ? stack.count() * rows * kept : 0);
  Buffer r = doubles(stack.count() * kept * columns);
  auto *q_out = q.mutable_as<double>(), *r_out = r.mutable_as<double>();
  for_matrices(stack.count(), [&](int64_t place) {
    Buffer room = doubles(rows * columns + (with_q ? kept * rows : 0));
    const MatrixView<double> turned{room.mutable_as<double>(), columns, rows, rows};
    load_doubles(stack[place].transposed(), turned);
    const Reflections made(turned);
    double* to = r_out + place * kept * columns;
    for (int64_t i = 0; i < kept; ++i)
      for (int64_t j = 0; j < columns; ++j) *to++ = made.r(i, j);
    if (!with_q) return;
    const MatrixView<double> basis{turned.data + rows * columns, kept, rows, rows};
    made.make_basis(basis);
    load_doubles(basis.transposed(), {q_out + place * rows * kept, rows, kept, kept});
  });
  Tensor right = store_doubles(std::move(r), stack.dtype(), stacked(stack.lead, {kept, columns}));
  if (!with_q) return {Tensor(), std::move(right)};
  return {store_doubles(std::move(q), stack.dtype(), stacked(stack.lead, {rows, kept})),
          std::move(right)};
}

Tensor tall_q(const Tensor& a) {
  const MatrixStack stack("tall_q", a);
  const int64_t rows = stack.rows(), columns = stack.columns();
  if (!stack.lead.empty() || rows < columns)
    throw_error<InvalidArgumentError>("tall_q", "expected one matrix with at least as many rows",
                                      {{"rows", rows}, {"columns", columns}});
  const ScopedTag tag("tall_q");
  Buffer made = doubles(rows * columns), room = doubles(columns * columns);
  const MatrixView<double> basis{made.mutable_as<double>(), rows, columns, columns};
  const MatrixView<double> factor{room.mutable_as<double>(), columns, columns, columns};
  load_doubles(stack[0], basis);
  for (int round = 0; round < 2; ++round) {
    multiply(basis.transposed(), basis, factor);
    double least = 1, most = 0;
    const bool positive = factor_cholesky(factor) < 0;
    for (int64_t i = 0; i < columns; ++i) {
      least = i == 0 ? factor(i, i) : std::min(least, factor(i, i));
      most = std::max(most, factor(i, i));
    }
    // Beyond a condition of 1e7 or so one more round does not make the basis orthogonal.
    if (!positive || (round == 0 && least < 1e-7 * most)) return qr(a).q;
    Buffer inverse = doubles(columns * columns);  // of the factor, turned
    const MatrixView<double> turned{inverse.mutable_as<double>(), columns, columns, columns};
    for (int64_t i = 0; i < columns; ++i) {
      std::fill(&turned(i, 0), &turned(i, 0) + columns, 0.0);
      turned(i, i) = 1;
    }
    solve_triangular(factor, Triangle::kLower, turned);
    Buffer product = doubles(rows * columns);
    multiply(basis, turned.transposed(),
             MatrixView<double>{product.mutable_as<double>(), rows, columns, columns});
    std::copy_n(product.as<double>(), rows * columns, basis.data);
  }
  return store_doubles(std::move(made), stack.dtype(), {rows, columns});
}

}  // namespace hr
