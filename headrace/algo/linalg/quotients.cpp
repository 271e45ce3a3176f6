// SPDX-License-Identifier: Apache-2.0
// The quotient-difference algorithm.
#include "headrace/algo/linalg/quotients.h"

#include "headrace/algo/linalg/matrix_stack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hr {
namespace {

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
