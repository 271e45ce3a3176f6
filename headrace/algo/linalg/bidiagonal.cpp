// SPDX-License-Identifier: Apache-2.0
// Reflections from both sides, and the quotient-difference algorithm.
#include "headrace/algo/linalg/bidiagonal.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/qr.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace hr {
namespace {

constexpr int64_t kBlock = 32;
constexpr int64_t kTaskValues = 131072;  // of the matrix that a task reads

/// The shares of `count` that tasks take of a matrix of `values`.
int64_t share(int64_t count, int64_t values) {
  const int64_t tasks = std::max<int64_t>(1, values / kTaskValues);
  return (count + tasks - 1) / tasks;
}

/// What is left of a matrix: `rest`, less products of pairs of vectors that were not taken yet.
/// Loops run over whole lanes and lines of the cache; the vectors and the borders have zeros there.
class Remainder {
 public:
  explicit Remainder(const MatrixView<double>& a)
      : size_(a.rows),
        stride_(whole_lines(size_)),
        room_(doubles((size_ + 4 * kBlock) * stride_ + 2 * kBlock)),
        rest_{room_.mutable_as<double>(), size_, size_, stride_},
        left_{rest_.data + size_ * stride_, 2 * kBlock, size_, stride_},
        right_{left_.data + 2 * kBlock * stride_, 2 * kBlock, size_, stride_},
        factors_(right_.data + 2 * kBlock * stride_) {
    load_doubles(a, rest_);
    for (int64_t i = 0; i < size_; ++i)
      std::fill(rest_.data + i * stride_ + size_, rest_.data + (i + 1) * stride_, 0.0);
  }

  /// Reflects column `k` to what is returned, from the diagonal on, and the columns after it.
  double reflect_column(int64_t k) {
    double* const v = start(left_, k);
    for (int64_t i = k; i < size_; ++i) v[i] = rest_(i, k);
    for (int64_t r = 0; r < count_; ++r) factors_[r] = -right_(r, k);
    add(left_, k, v);
    const double factor = reflect(v + k, size_ - k), value = std::exchange(v[k], 1);
    double* const w = start(right_, k + 1);
    if (factor != 0 && k + 1 < size_) {
      const int64_t j0 = line_of(k + 1), columns = stride_ - j0, rows = size_ - k;
      const int64_t step = whole_lines(share(columns, rows * columns));
      parallel_for((columns + step - 1) / step, [&](int64_t task) {
        const int64_t j = j0 + task * step;
        cpu::add_rows(rest_.block(k, j, rows, std::min(step, stride_ - j)), v + k, w + j);
      });
      subtract_taken(left_, v, right_, w, k, k + 1);
      finish(w, k + 1, factor);
    }
    ++count_;
    return value;
  }

  /// The same of row `k`, from the column after the diagonal on.
  double reflect_row(int64_t k) {
    double* const u = start(right_, k + 1);
    std::copy_n(&rest_(k, k + 1), size_ - k - 1, u + k + 1);
    for (int64_t r = 0; r < count_; ++r) factors_[r] = -left_(r, k);
    add(right_, k + 1, u);
    const double factor = reflect(u + k + 1, size_ - k - 1), value = std::exchange(u[k + 1], 1);
    double* const w = start(left_, k + 1);
    if (factor != 0) {
      const int64_t j = line_of(k + 1), columns = stride_ - j, rows = size_ - k - 1;
      const int64_t step = share(rows, rows * columns);
      parallel_for((rows + step - 1) / step, [&](int64_t task) {
        const int64_t i = k + 1 + task * step;
        cpu::dots(rest_.block(i, j, std::min(step, size_ - i), columns), u + j, w + i);
      });
      subtract_taken(right_, u, left_, w, k + 1, k + 1);
      finish(w, k + 1, factor);
    }
    ++count_;
    return value;
  }

  /// Takes the products from the matrix, from row and column `k` on.
  void take(int64_t k) {
    const int64_t size = size_ - k;
    multiply(left_.block(0, k, count_, size).transposed(), right_.block(0, k, count_, size),
             rest_.block(k, k, size, size), Update::kSubtract);
    count_ = 0;
  }

  bool is_full() const { return count_ == 2 * kBlock; }

 private:
  static constexpr int64_t kLine = 16;

  static int64_t line_of(int64_t k) { return k / kLine * kLine; }
  static int64_t whole_lines(int64_t k) { return line_of(k + kLine - 1); }

  /// The next vector of `vectors`, of zeros from the line of `k` on.
  double* start(const MatrixView<double>& vectors, int64_t k) const {
    double* const made = &vectors(count_, 0);
    std::fill(made + line_of(k), made + stride_, 0.0);
    return made;
  }

  /// Adds the vectors, times `factors_`, to `to`, from `k` on; zeros before it stay.
  void add(const MatrixView<double>& vectors, int64_t k, double* to) const {
    const int64_t j = line_of(k);
    cpu::add_rows(vectors.block(0, j, count_, stride_ - j), factors_, to + j);
    std::fill(to + j, to + k, 0.0);
  }

  /// Takes what the pairs of vectors make of `from`, which begins at `first`, from `to`.
  void subtract_taken(const MatrixView<double>& along, const double* from,
                      const MatrixView<double>& vectors, double* to, int64_t first, int64_t k) {
    const int64_t j = line_of(first);
    cpu::dots(along.block(0, j, count_, stride_ - j), from + j, factors_);
    for (int64_t r = 0; r < count_; ++r) factors_[r] = -factors_[r];
    add(vectors, k, to);
  }

  void finish(double* to, int64_t k, double factor) const {
    for (int64_t j = k; j < size_; ++j) to[j] *= factor;
  }

  int64_t size_;
  int64_t stride_;
  Buffer room_;
  MatrixView<double> rest_;
  MatrixView<double> left_;   // rows 0 to `count_` - 1: vectors as long as columns
  MatrixView<double> right_;  // ... as long as rows
  double* factors_;
  int64_t count_ = 0;
};

/// Squares of the diagonals less a shift, in the form that keeps their digits.
class Quotients {
 public:
  Quotients(double* squares, double* beside, int64_t size)
      : q_(squares),
        e_(beside),
        room_(doubles(2 * size)),
        next_q_(room_.mutable_as<double>()),
        next_e_(next_q_ + size),
        steps_left_(40 * size) {}

  /// Finds the values of [first, end), less `shift`; what splits off in front goes to `parts`.
  struct Part {
    int64_t first;
    int64_t end;
    double shift;
  };
  bool find(Part part, std::vector<Part>& parts, double* values) {
    auto& [first, end, shift] = part;
    if (end - first > 1 && q_[first] < q_[end - 1]) {  // the smallest are found last to first
      std::reverse(q_ + first, q_ + end);
      std::reverse(e_ + first, e_ + end - 1);
    }
    least_ = least_before_ = least_two_before_ = -1;
    while (end > first) {
      if (end - first == 1 || is_nothing(e_[end - 2], shift + q_[end - 1])) {
        --end;
        values[end] = std::sqrt(shift + q_[end]);
        least_ = least_before_;
        least_before_ = least_two_before_;
        continue;
      }
      for (int64_t k = end - 2; k > first; --k)
        if (is_nothing(e_[k - 1], shift + q_[k])) {
          parts.push_back({first, k, shift});
          first = k;
          least_ = -1;
        }
      if (end - first == 2) {
        solve_two(part, values);
        return true;
      }
      if (end - first > 2 && !advance(part)) return false;
    }
    return true;
  }

 private:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

  static bool is_nothing(double e, double q) { return e <= 1e4 * kEpsilon * kEpsilon * q; }

  void solve_two(const Part& part, double* values) const {
    const double *q = q_ + part.first, *e = e_ + part.first;
    const double a = q[0] + e[0], half = (a - q[1]) / 2;
    const double large = (a + q[1]) / 2 + std::sqrt(half * half + q[1] * e[0]);
    values[part.first] = std::sqrt(part.shift + large);
    values[part.first + 1] = std::sqrt(part.shift + q[0] / large * q[1]);
  }

  /// A shift below the smallest value, from what the last step left, as LAPACK's dlasq4 has it
  /// where the smallest pivot came last.
  double next_shift(const Part& part) const {
    if (least_ < 0) return 0;
    const double *q = q_ + part.end - 1, *e = e_ + part.end - 2;
    double shift = least_ / 4;
    if (q[0] == least_) {
      const double side = std::sqrt(q[0] * e[0]), other = std::sqrt(q[-1] * e[-1]);
      const double before = q[-1] + e[0], apart = 0.75 * least_before_ - before;
      const double gap = before - q[0] - (apart > other ? other / apart * other : side + other);
      if (gap > side) {
        shift = std::max(q[0] - side / gap * side, q[0] / 2);
      } else {
        const double bound = std::min(q[0] - side, before - side - other);
        shift = std::max(bound, q[0] / 3);
      }
    }
    return shift < kEpsilon / 2 * part.shift ? 0 : shift;
  }

  /// One step of the algorithm. A shift that was too large is made smaller.
  bool advance(Part& part) {
    const int64_t first = part.first, count = part.end - first;
    double shift = next_shift(part);
    for (int tries = 0;; ++tries) {
      if (--steps_left_ < 0) return false;
      const double least = transform(first, count, shift);
      if (least >= 0) break;
      const double last = next_q_[count - 1];  // alone below 0, it says by how much
      const bool is_last = least == last && least_before_ >= 0;
      shift = tries == 4 ? 0 : std::max(0.0, is_last ? shift + last : shift / 4);
    }
    part.shift += shift;
    std::copy_n(next_q_, count, q_ + first);
    std::copy_n(next_e_, count - 1, e_ + first);
    return true;
  }

  /// The smallest pivot.
  double transform(int64_t first, int64_t count, double shift) {
    const double *q = q_ + first, *e = e_ + first;
    double d = q[0] - shift, least = d, before = d, two_before = d;
    for (int64_t k = 0; k + 1 < count; ++k) {
      const double sum = d + e[k], ratio = q[k + 1] / sum;
      next_q_[k] = sum;
      next_e_[k] = e[k] * ratio;
      d = d * ratio - shift;
      two_before = before;
      before = least;
      least = std::min(least, d);
    }
    next_q_[count - 1] = d;
    least_ = least;
    least_before_ = before;
    least_two_before_ = two_before;
    return least;
  }

  double* q_;
  double* e_;
  Buffer room_;
  double* next_q_;
  double* next_e_;
  int64_t steps_left_;
  double least_ = -1;         // pivot of the last step; below 0: there was none
  double least_before_ = -1;  // among those before the last one
  double least_two_before_ = -1;
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

bool bidiagonal_values(double* diagonal, double* beside, double* values, int64_t size) {
  for (int64_t i = 0; i < size; ++i) diagonal[i] *= diagonal[i];
  for (int64_t i = 0; i + 1 < size; ++i) beside[i] *= beside[i];
  Quotients quotients(diagonal, beside, size);
  std::vector<Quotients::Part> parts{{0, size, 0}};
  while (!parts.empty()) {
    const Quotients::Part part = parts.back();
    parts.pop_back();
    if (!quotients.find(part, parts, values)) return false;
  }
  return std::all_of(values, values + size, [](double x) { return std::isfinite(x); });
}

}  // namespace hr
