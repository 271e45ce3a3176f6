// SPDX-License-Identifier: Apache-2.0
// Reflections from both sides.
#include "headrace/algo/linalg/condensed.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/qr.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hr {
namespace {

constexpr int64_t kBlock = 32;
constexpr int64_t kTaskValues = 131072;  // of the matrix that a task reads

/// The shares of `count` that tasks take of a matrix of `values`.
int64_t share(int64_t count, int64_t values) {
  const int64_t tasks = std::max<int64_t>(1, values / kTaskValues);
  return (count + tasks - 1) / tasks;
}

constexpr int64_t kLine = 16;  // lanes of the loops: vectors begin and end at whole ones

int64_t line_of(int64_t k) {
  return k / kLine * kLine;
}

int64_t whole_lines(int64_t k) {
  return line_of(k + kLine - 1);
}

/// A square matrix with zeros beyond its columns, and vectors as long as those of its rows.
class Room {
 public:
  Room(const MatrixView<double>& a, int64_t num_vectors)
      : stride_(whole_lines(a.rows)),
        room_(doubles((a.rows + num_vectors) * stride_ + num_vectors)),
        matrix{room_.mutable_as<double>(), a.rows, a.rows, stride_},
        factors(matrix.data + (a.rows + num_vectors) * stride_) {
    load_doubles(a, matrix);
    for (int64_t i = 0; i < a.rows; ++i)
      std::fill(matrix.data + i * stride_ + a.rows, matrix.data + (i + 1) * stride_, 0.0);
  }

  /// Vectors [first, first + count).
  MatrixView<double> vectors(int64_t first, int64_t count) const {
    return {matrix.data + (matrix.rows + first) * stride_, count, stride_, stride_};
  }

 private:
  int64_t stride_;
  Buffer room_;

 public:
  MatrixView<double> matrix;
  double* factors;  // as many as there are vectors
};

/// The next vector, with zeros from the line of `k` on.
double* start(const MatrixView<double>& vectors, int64_t count, int64_t k) {
  double* const made = &vectors(count, 0);
  std::fill(made + line_of(k), made + vectors.columns, 0.0);
  return made;
}

/// Adds `count` vectors, times `factors`, to `to`, from `k` on; zeros before it stay.
void add(const MatrixView<double>& vectors, int64_t count, const double* factors, int64_t k,
         double* to) {
  const int64_t j = line_of(k);
  cpu::add_rows(vectors.block(0, j, count, vectors.columns - j), factors, to + j);
  std::fill(to + j, to + k, 0.0);
}

/// The products of `count` vectors with `x`, which begins at `k`.
void multiply(const MatrixView<double>& vectors, int64_t count, const double* x, int64_t k,
              double* products) {
  const int64_t j = line_of(k);
  cpu::dots(vectors.block(0, j, count, vectors.columns - j), x + j, products);
}

void scale(double* x, double factor, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) x[i] *= factor;
}

/// What is left of a matrix: `rest_`, less products of pairs of vectors that were not taken yet.
class Remainder {
 public:
  explicit Remainder(const MatrixView<double>& a)
      : room_(a, 4 * kBlock),
        rest_(room_.matrix),
        left_(room_.vectors(0, 2 * kBlock)),
        right_(room_.vectors(2 * kBlock, 2 * kBlock)),
        factors_(room_.factors) {}

  /// Reflects column `k` to what is returned, from the diagonal on, and the columns after it.
  double reflect_column(int64_t k) {
    const int64_t size = rest_.rows, stride = rest_.row_stride;
    double* const v = start(left_, count_, k);
    for (int64_t i = k; i < size; ++i) v[i] = rest_(i, k);
    for (int64_t r = 0; r < count_; ++r) factors_[r] = -right_(r, k);
    add(left_, count_, factors_, k, v);
    const double factor = reflect(v + k, size - k), value = std::exchange(v[k], 1);
    double* const w = start(right_, count_, k + 1);
    if (factor != 0 && k + 1 < size) {
      const int64_t first = line_of(k + 1), columns = stride - first, rows = size - k;
      const int64_t step = whole_lines(share(columns, rows * columns));
      parallel_for((columns + step - 1) / step, [&](int64_t task) {
        const int64_t j = first + task * step;
        cpu::add_rows(rest_.block(k, j, rows, std::min(step, stride - j)), v + k, w + j);
      });
      multiply(left_, count_, v, k, factors_);
      scale(factors_, -1, 0, count_);
      add(right_, count_, factors_, k + 1, w);
      scale(w, factor, k + 1, size);
    }
    ++count_;
    return value;
  }

  /// The same of row `k`, from the column after the diagonal on.
  double reflect_row(int64_t k) {
    const int64_t size = rest_.rows, begin = k + 1;
    double* const u = start(right_, count_, begin);
    std::copy_n(&rest_(k, begin), size - begin, u + begin);
    for (int64_t r = 0; r < count_; ++r) factors_[r] = -left_(r, k);
    add(right_, count_, factors_, begin, u);
    const double factor = reflect(u + begin, size - begin), value = std::exchange(u[begin], 1);
    double* const w = start(left_, count_, begin);
    if (factor != 0) {
      const int64_t j = line_of(begin), columns = rest_.row_stride - j, rows = size - begin;
      const int64_t step = share(rows, rows * columns);
      parallel_for((rows + step - 1) / step, [&](int64_t task) {
        const int64_t i = begin + task * step;
        cpu::dots(rest_.block(i, j, std::min(step, size - i), columns), u + j, w + i);
      });
      multiply(right_, count_, u, begin, factors_);
      scale(factors_, -1, 0, count_);
      add(left_, count_, factors_, begin, w);
      scale(w, factor, begin, size);
    }
    ++count_;
    return value;
  }

  /// Takes the products from the matrix, from row and column `k` on.
  void take(int64_t k) {
    const int64_t size = rest_.rows - k;
    multiply(left_.block(0, k, count_, size).transposed(), right_.block(0, k, count_, size),
             rest_.block(k, k, size, size), Update::kSubtract);
    count_ = 0;
  }

  bool is_full() const { return count_ == 2 * kBlock; }

 private:
  Room room_;
  MatrixView<double> rest_;
  MatrixView<double> left_;   // as long as columns
  MatrixView<double> right_;  // as long as rows
  double* factors_;
  int64_t count_ = 0;  // of pairs
};

/// The same of a symmetric matrix: with each pair of vectors goes the one exchanged. Of `rest_`,
/// the upper triangle and the squares of kLine on the diagonal are kept.
class SymmetricRemainder {
 public:
  explicit SymmetricRemainder(const MatrixView<double>& a)
      : room_(a, 4 * kBlock + kMostTasks),
        rest_(room_.matrix),
        pairs_(room_.vectors(0, 2 * kBlock)),
        exchanged_(room_.vectors(2 * kBlock, 2 * kBlock)),
        sums_(room_.vectors(4 * kBlock, kMostTasks)),
        factors_(room_.factors) {
    for (int64_t i = 0; i < rest_.rows; ++i)
      for (int64_t j = 0; j < i; ++j) rest_(j, i) = rest_(i, j);
  }

  /// Reflects row and column `k`, from the diagonal on, to `diagonal` and `beside`. Leaves the
  /// vector in `made`, from there on, and returns its factor.
  double reflect_both(int64_t k, double* diagonal, double* beside, double* made) {
    const int64_t size = rest_.rows, begin = k + 1;
    double* const u = start(pairs_, count_, k);
    std::copy_n(&rest_(k, k), size - k, u + k);
    for (int64_t r = 0; r < count_; ++r) factors_[r] = -pairs_(r ^ 1, k);
    add(pairs_, count_, factors_, k, u);
    *diagonal = std::exchange(u[k], 0);
    if (begin == size) return 0;
    const double factor = reflect(u + begin, size - begin);
    *beside = std::exchange(u[begin], 1);
    std::copy_n(u + begin, size - begin, made);
    double* const w = start(pairs_, count_ + 1, begin);
    if (factor != 0) {
      multiply_rest(u, begin, w);
      multiply(pairs_, count_, u, begin, factors_);
      for (int64_t r = 0; r < count_; r += 2) std::swap(factors_[r], factors_[r + 1]);
      scale(factors_, -1, 0, count_);
      add(pairs_, count_, factors_, begin, w);
      scale(w, factor, begin, size);
      const double half = factor / 2 * cpu::dot(u + begin, w + begin, size - begin);
      cpu::add_scaled(w + begin, -half, u + begin, size - begin);
    }
    count_ += 2;
    return factor;
  }

  /// Takes the products from the matrix, from row and column `k` on.
  void take(int64_t k) {
    constexpr int64_t kRows = 128;
    for (int64_t r = 0; r < count_; ++r)
      std::copy(&pairs_(r, line_of(k)), &pairs_(r, rest_.rows), &exchanged_(r ^ 1, line_of(k)));
    for (int64_t i = line_of(k); i < rest_.rows; i += kRows) {
      const int64_t rows = std::min(kRows, rest_.rows - i), columns = rest_.rows - i;
      multiply(pairs_.block(0, i, count_, rows).transposed(),
               exchanged_.block(0, i, count_, columns), rest_.block(i, i, rows, columns),
               Update::kSubtract);
    }
    count_ = 0;
  }

  bool is_full() const { return count_ == 2 * kBlock; }

 private:
  static constexpr int64_t kMostTasks = 16;

  /// Adds the product of the matrix with `x`, which begins at `k`, to `to`. Tasks take shares of
  /// the triangle.
  void multiply_rest(const double* x, int64_t k, double* to) const {
    const int64_t first = line_of(k), size = rest_.row_stride - first;
    const int64_t tasks = std::clamp<int64_t>(size * size / 2 / kTaskValues, 1, kMostTasks);
    const auto border = [&](int64_t task) {
      const double left = std::sqrt(1 - static_cast<double>(task) / static_cast<double>(tasks));
      return first + line_of(size - static_cast<int64_t>(left * static_cast<double>(size)));
    };
    parallel_for(tasks, [&](int64_t task) {
      double* const sums = &sums_(task, 0);
      const int64_t begin = border(task), end = task + 1 == tasks ? rest_.rows : border(task + 1);
      std::fill(sums + begin, sums + rest_.row_stride, 0.0);
      cpu::multiply_symmetric({rest_.data, rest_.rows, rest_.row_stride, rest_.row_stride}, begin,
                              end, x, sums);
    });
    for (int64_t task = 0; task < tasks; ++task)
      for (int64_t i = std::max(k, border(task)); i < rest_.rows; ++i) to[i] += sums_(task, i);
  }

  Room room_;
  MatrixView<double> rest_;
  MatrixView<double> pairs_;  // two by two
  MatrixView<double> exchanged_;
  MatrixView<double> sums_;  // of tasks
  double* factors_;
  int64_t count_ = 0;  // of vectors
};

}  // namespace

void reduce_to_bidiagonal(const MatrixView<double>& a, double* diagonal, double* beside) {
  Remainder remainder(a);
  for (int64_t k = 0; k < a.rows; ++k) {
    diagonal[k] = remainder.reflect_column(k);
    if (k + 1 == a.rows) break;
    beside[k] = remainder.reflect_row(k);
    if (remainder.is_full()) remainder.take(k + 1);
  }
}

void reduce_to_tridiagonal(const MatrixView<double>& a, double* diagonal, double* beside,
                           double* factors) {
  SymmetricRemainder remainder(a);
  for (int64_t k = 0; k < a.rows; ++k) {
    const double factor = remainder.reflect_both(k, diagonal + k, beside + k, &a(k, k) + 1);
    if (k + 1 == a.rows) break;
    factors[k] = factor;
    if (remainder.is_full()) remainder.take(k + 1);
  }
}

}  // namespace hr
