// SPDX-License-Identifier: Apache-2.0
// Householder reduction and implicit QR steps.
#include "headrace/algo/linalg/eigh.h"

#include "headrace/algo/linalg/condensed.h"
#include "headrace/algo/linalg/eigh_kernels.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/qr.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace hr {
namespace {

/// The entry out of place that an implicit QR step moves down the rows [first, last] of a
/// tridiagonal matrix.
class Bulge {
 public:
  Bulge() = default;
  Bulge(double* d, double* e, int64_t first, int64_t last, double shift)
      : d_(d), e_(e), first_(first), last_(last), x_(d[first] - shift), z_(e[first]) {}

  /// Turns rows k and k + 1, for k from `first` to `last` - 1, by cosine `c` and sine `s`.
  [[gnu::always_inline]] void turn(int64_t k, double& c, double& s) {
    const double r = std::sqrt(x_ * x_ + z_ * z_);  // no entry is large, tiny ones do not count
    c = r == 0 ? 1 : x_ / r;
    s = r == 0 ? 0 : z_ / r;
    if (k > first_) e_[k - 1] = r;
    const double upper = d_[k];
    const double lower = d_[k + 1];
    const double side = e_[k];
    d_[k] = c * c * upper + 2 * c * s * side + s * s * lower;
    d_[k + 1] = s * s * upper - 2 * c * s * side + c * c * lower;
    e_[k] = c * s * (lower - upper) + (c * c - s * s) * side;
    if (k + 1 < last_) {
      x_ = e_[k];
      z_ = s * e_[k + 1];
      e_[k + 1] *= c;
    }
  }

 private:
  double* d_ = nullptr;
  double* e_ = nullptr;
  int64_t first_ = 0;
  int64_t last_ = 0;
  double x_ = 0;
  double z_ = 0;
};

/// One implicit QR step with Wilkinson's shift on the rows [first, last]. Cosines and sines go to
/// `angles`, if there is one.
void step(double* angles, double* d, double* e, int64_t first, int64_t last) {
  const double delta = (d[last - 1] - d[last]) / 2;
  const double away = delta + std::copysign(std::hypot(delta, e[last - 1]), delta);
  Bulge bulge(d, e, first, last, d[last] - e[last - 1] / away * e[last - 1]);
  for (int64_t k = first; k < last; ++k) {
    double c, s;
    bulge.turn(k, c, s);
    if (angles != nullptr) {
      *angles++ = c;
      *angles++ = s;
    }
  }
}

constexpr int64_t kBulges = 4;
constexpr int64_t kApart = 3;  // rows between bulges, which then touch no entry of each other

/// As many steps as there are shifts, each behind the last: turns of one bulge wait for each other,
/// so a processor works on all bulges at once.
void steps(const double* shifts, double* d, double* e, int64_t first, int64_t last) {
  constexpr int64_t kLag = (kBulges - 1) * kApart;
  Bulge bulges[kBulges];
  double c, s;
  const auto turn = [&](int64_t bulge, int64_t k) {
    if (k < first || k >= last) return;
    if (k == first) bulges[bulge] = Bulge(d, e, first, last, shifts[bulge]);
    bulges[bulge].turn(k, c, s);
  };
  int64_t row = first;  // of the first bulge
  for (; row <= first + kLag; ++row)
    for (int64_t bulge = 0; bulge < kBulges; ++bulge) turn(bulge, row - bulge * kApart);
  for (; row < last; ++row)
#pragma GCC unroll 4
    for (int64_t bulge = 0; bulge < kBulges; ++bulge)
      bulges[bulge].turn(row - bulge * kApart, c, s);
  for (; row < last + kLag; ++row)
    for (int64_t bulge = 0; bulge < kBulges; ++bulge) turn(bulge, row - bulge * kApart);
}

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Brings the largest entry near 1 by a power of two, which is returned: it brings values back.
double normalize(double* matrix, int64_t size) {
  double largest = 0;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const double entry = std::fabs(matrix[i * size + j]);
      if (!std::isfinite(entry))
        throw_error<InvalidArgumentError>("eigh", "an entry is not finite",
                                          {{"row", i}, {"column", j}});
      largest = std::max(largest, entry);
    }
  const int exponent = largest > 0 ? std::clamp(std::ilogb(largest), -1000, 1000) : 0;
  const double factor = std::ldexp(1, -exponent);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j) matrix[i * size + j] *= factor;
  return std::ldexp(1, exponent);
}

/// What steps do to vectors, many of them in one pass over the vectors: strips of columns lie in a
/// cache meanwhile.
class Turns {
 public:
  explicit Turns(const MatrixView<double>& rows)
      : rows_(rows),
        most_angles_(128 * rows.rows),
        room_(doubles(most_angles_)),
        end_(room_.mutable_as<double>()) {}

  /// Room for the angles of a step on rows [first, last].
  double* add(int64_t first, int64_t last) {
    double* const begin = room_.mutable_as<double>();
    const int64_t count = 2 * (last - first);
    if (end_ - begin + count > most_angles_ || num_sweeps_ == kMostSweeps) apply();
    double* const angles = end_;
    sweeps_[num_sweeps_++] = {first, last, angles};
    end_ += count;
    return angles;
  }

  void apply() {
    constexpr int64_t kColumns = cpu::kTurnedColumns;
    parallel_for((rows_.columns + kColumns - 1) / kColumns, [&](int64_t task) {
      const int64_t first = task * kColumns, count = std::min(kColumns, rows_.columns - first);
      Buffer room = doubles(rows_.rows * kColumns);
      auto* strip = room.mutable_as<double>();
      if (count < kColumns) std::fill_n(strip, rows_.rows * kColumns, 0.0);
      for (int64_t i = 0; i < rows_.rows; ++i)
        std::copy_n(&rows_(i, first), count, strip + i * kColumns);
      cpu::turn_rows(strip, sweeps_, num_sweeps_);
      for (int64_t i = 0; i < rows_.rows; ++i)
        std::copy_n(strip + i * kColumns, count, &rows_(i, first));
    });
    num_sweeps_ = 0;
    end_ = room_.mutable_as<double>();
  }

 private:
  static constexpr int64_t kMostSweeps = 256;

  MatrixView<double> rows_;
  int64_t most_angles_;
  Buffer room_;
  double* end_;
  int64_t num_sweeps_ = 0;
  cpu::Sweep sweeps_[kMostSweeps];
};

void iterate(Turns* turns, double* values, double* beside, int64_t size);

/// The eigenvalues of the last rows of a tridiagonal matrix, the nearest to its last entry first.
void find_shifts(const double* d, const double* e, int64_t last, double* shifts) {
  double beside[kBulges];
  std::copy_n(d + last + 1 - kBulges, kBulges, shifts);
  std::copy_n(e + last + 1 - kBulges, kBulges - 1, beside);
  iterate(nullptr, shifts, beside, kBulges);
  std::sort(shifts, shifts + kBulges,
            [&](double a, double b) { return std::fabs(a - d[last]) < std::fabs(b - d[last]); });
}

/// Eigenvalues of a tridiagonal matrix, and what its eigenvectors do to vectors (null: nothing).
void iterate(Turns* turns, double* values, double* beside, int64_t size) {
  constexpr double kNothing = kEpsilon * kEpsilon;
  constexpr int64_t kFewRows = 16;
  const auto is_split = [&](int64_t k) {
    const double around = std::fabs(values[k]) + std::fabs(values[k + 1]);
    return std::fabs(beside[k]) <= std::max(kEpsilon * around, kNothing);
  };
  int64_t steps_left = 60 * (size + 1);
  for (int64_t last = size - 1; last > 0;) {
    if (is_split(last - 1)) {
      beside[--last] = 0;
      continue;
    }
    int64_t first = last - 1;
    while (first > 0 && !is_split(first - 1)) --first;
    if (--steps_left == 0)
      throw_error<InternalError>("eigh", "the iteration did not converge", {{"size", size}});
    if (turns != nullptr) {
      step(turns->add(first, last), values, beside, first, last);
    } else if (last - first < kFewRows) {
      step(nullptr, values, beside, first, last);
    } else {
      double shifts[kBulges];
      find_shifts(values, beside, last, shifts);
      steps(shifts, values, beside, first, last);
    }
  }
  if (turns != nullptr) turns->apply();
}

/// The tridiagonal matrix less a shift, as factors with rows exchanged where the lower one has the
/// larger pivot.
class Shifted {
 public:
  Shifted(const double* diagonal, const double* beside, int64_t size, double* room)
      : diagonal_(diagonal),
        beside_(beside),
        size_(size),
        pivots_(room),
        next_(room + size),
        after_(room + 2 * size),
        factors_(room + 3 * size),
        exchanged_(room + 4 * size) {}

  void factor(double shift) {
    double pivot = diagonal_[0] - shift;
    double next = size_ > 1 ? beside_[0] : 0;
    for (int64_t k = 0; k + 1 < size_; ++k) {
      const double lower = beside_[k];
      const double own = diagonal_[k + 1] - shift;
      const double behind = k + 2 < size_ ? beside_[k + 1] : 0;
      exchanged_[k] = std::fabs(lower) > std::fabs(pivot);
      if (exchanged_[k] != 0) {
        keep(k, lower, own, behind);
        factors_[k] = pivot / pivots_[k];
        pivot = next - factors_[k] * own;
        next = -factors_[k] * behind;
      } else {
        keep(k, pivot, next, 0);
        factors_[k] = lower / pivots_[k];
        pivot = own - factors_[k] * next;
        next = behind;
      }
    }
    keep(size_ - 1, pivot, 0, 0);
  }

  void solve(double* x) const {
    for (int64_t k = 0; k + 1 < size_; ++k) {
      if (exchanged_[k] != 0) std::swap(x[k], x[k + 1]);
      x[k + 1] -= factors_[k] * x[k];
    }
    for (int64_t k = size_ - 1; k >= 0; --k) {
      if (k + 1 < size_) x[k] -= next_[k] * x[k + 1];
      if (k + 2 < size_) x[k] -= after_[k] * x[k + 2];
      x[k] /= pivots_[k];
    }
  }

 private:
  void keep(int64_t k, double pivot, double next, double after) {
    pivots_[k] = std::fabs(pivot) < kEpsilon ? std::copysign(kEpsilon, pivot) : pivot;
    next_[k] = next;
    after_[k] = after;
  }

  const double* diagonal_;
  const double* beside_;
  int64_t size_;
  double* pivots_;
  double* next_;
  double* after_;
  double* factors_;
  double* exchanged_;
};

/// Makes of the reflections in `matrix` the transpose of the orthogonal matrix that gives the input
/// back.
void make_vectors(double* matrix, const double* factors, int64_t size) {
  if (size == 0) return;
  const MatrixView<double> all{matrix, size, size, size};
  const MatrixView<double> vectors = all.block(0, 1, size - 1, size - 1);
  Buffer kept = doubles(size - 1);
  std::copy_n(factors, size - 1, kept.mutable_as<double>());
  Buffer room = doubles(size * size);
  const MatrixView<double> made{room.mutable_as<double>(), size, size, size};
  std::fill_n(made.data, size * size, 0.0);
  made(0, 0) = 1;
  Reflections(vectors, std::move(kept)).make_basis(made.block(1, 1, size - 1, size - 1));
  std::copy_n(made.data, size * size, matrix);
}

}  // namespace

void eigh(double* matrix, double* values, double* scratch, int64_t size) {
  const double unit = normalize(matrix, size);
  double* const factors = scratch + size;
  reduce_to_tridiagonal({matrix, size, size, size}, values, scratch, factors);
  make_vectors(matrix, factors, size);
  Turns turns({matrix, size, size, size});
  iterate(&turns, values, scratch, size);
  for (int64_t i = 0; i < size; ++i) values[i] *= unit;
  for (int64_t i = 0; i < size; ++i) {  // by falling value; each row moves at most once
    const int64_t best = std::max_element(values + i, values + size) - values;
    if (best == i) continue;
    std::swap(values[i], values[best]);
    std::swap_ranges(matrix + i * size, matrix + (i + 1) * size, matrix + best * size);
  }
}

void eigh_largest(double* matrix, double* values, double* vectors, double* scratch, int64_t size,
                  int64_t count) {
  const double unit = normalize(matrix, size);
  double* const diagonal = scratch;
  double* const beside = scratch + size;
  double* const factors = scratch + 2 * size;
  double* const room = scratch + 3 * size;
  reduce_to_tridiagonal({matrix, size, size, size}, diagonal, beside, factors);
  std::copy_n(diagonal, size, values);
  std::copy_n(beside, size - 1, room);
  iterate(nullptr, values, room, size);
  std::sort(values, values + size, std::greater<>());
  Shifted shifted(diagonal, beside, size, room);
  uint64_t state = 1;
  for (int64_t c = 0; c < count; ++c) {
    double* const x = vectors + c * size;
    shifted.factor(values[c]);
    for (int64_t i = 0; i < size; ++i) {  // any beginning but one without the eigenvector
      state = state * 6364136223846793005 + 1442695040888963407;
      x[i] = 1 + static_cast<double>(state >> 40) / (1 << 24);
    }
    for (int round = 0; round < 4; ++round) {
      cpu::orthogonalize(x, vectors, c, size);
      if (round < 3) shifted.solve(x);
    }
  }
  cpu::reflect_back(matrix, factors, vectors, count, size);
  for (int64_t i = 0; i < size; ++i) values[i] *= unit;
}

Eigh eigh(const Tensor& a, bool with_vectors) {
  const MatrixStack stack("eigh", a);
  check_square("eigh", stack);
  const ScopedTag tag("eigh");
  const int64_t size = stack.rows();
  Buffer values = doubles(stack.count() * size);
  Buffer vectors = doubles(with_vectors ? stack.count() * size * size : 0);
  auto *values_out = values.mutable_as<double>(), *vectors_out = vectors.mutable_as<double>();
  for_matrices(stack.count(), [&](int64_t place) {
    Buffer room = doubles(size * size + 8 * size);
    const MatrixView<double> matrix{room.mutable_as<double>(), size, size, size};
    double* const out = values_out + place * size;
    load_doubles(stack[place], matrix);
    if (!with_vectors) {
      eigh_largest(matrix.data, out, nullptr, matrix.data + size * size, size, 0);
      std::reverse(out, out + size);
      return;
    }
    eigh(matrix.data, out, matrix.data + size * size, size);
    std::reverse(out, out + size);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j)
        vectors_out[(place * size + i) * size + j] = matrix(size - 1 - j, i);
  });
  Eigh made;
  made.values = store_doubles(std::move(values), stack.dtype(), stacked(stack.lead, {size}));
  if (with_vectors) made.vectors = store_doubles(std::move(vectors), stack.dtype(), a.shape());
  return made;
}

}  // namespace hr
