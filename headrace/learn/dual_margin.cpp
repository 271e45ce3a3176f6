// SPDX-License-Identifier: Apache-2.0
// One loop over the duals of rows, dense or sparse.
#include "headrace/learn/dual_margin.h"

#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/algo/random/philox.h"
#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace hr {
namespace {

/// Checks for float64 [outputs, rows].
void check_rows(const Tensor& values, int64_t outputs, int64_t rows, std::string_view name) {
  if (values.dtype() != dtype_of<double>() || values.shape() != Shape{outputs, rows} ||
      !values.is_contiguous())
    throw_error<InvalidArgumentError>("fit_dual", "expected float64 numbers [outputs, rows]",
                                      {{"name", name}, {"outputs", outputs}, {"rows", rows}});
}

class DenseRows {
 public:
  explicit DenseRows(const RowTiles& x)
      : rows(x.rows()),
        features(x.columns()),
        values_(doubles(checked_multiply("fit_dual", rows, features))) {
    constexpr int64_t step = 1024;
    parallel_for(divide_up(rows, step), [&](int64_t k) {
      const int64_t first = k * step;
      x.read(first, std::min(step, rows - first), TileForm::kRows, nullptr, nullptr,
             values_.mutable_as<double>() + first * features);
    });
  }

  double dot(int64_t i, const double* w) const { return cpu::dot(row(i), w, features); }
  void add(int64_t i, double scale, double* w) const {
    cpu::add_scaled(w, scale, row(i), features);
  }
  double square(int64_t i) const { return cpu::dot(row(i), row(i), features); }

  const int64_t rows;
  const int64_t features;

 private:
  const double* row(int64_t i) const { return values_.as<double>() + i * features; }

  Buffer values_;
};

template <class Index, class Number>
class SparseRows {
 public:
  explicit SparseRows(const Sparse& x)
      : rows(x.rows()),
        features(x.columns()),
        x_(x),
        index_(x.indices().as<Index>()),
        number_(x.data().as<Number>()) {}

  double dot(int64_t i, const double* w) const {
    double sum = 0;
    for_entries(i, [&](int64_t j, double value) { sum += w[j] * value; });
    return sum;
  }
  void add(int64_t i, double scale, double* w) const {
    for_entries(i, [&](int64_t j, double value) { w[j] += scale * value; });
  }
  double square(int64_t i) const {
    double sum = 0;
    for_entries(i, [&](int64_t, double value) { sum += value * value; });
    return sum;
  }

  const int64_t rows;
  const int64_t features;

 private:
  template <class F>
  void for_entries(int64_t i, F body) const {
    for (int64_t at = x_.row_begin(i); at < x_.row_begin(i + 1); ++at)
      body(static_cast<int64_t>(index_[at]), static_cast<double>(number_[at]));
  }

  const Sparse& x_;
  const Index* index_;
  const Number* number_;
};

/// The search for one output.
template <class Rows>
class Descent {
 public:
  Descent(const Rows& rows, const double* squares, const double* targets, const double* costs,
          const DualProblem& problem)
      : rows_(rows),
        squares_(squares),
        targets_(targets),
        costs_(costs),
        problem_(problem),
        w_(static_cast<size_t>(rows.features + 1)),
        duals_(static_cast<size_t>(rows.rows)) {
    order_.reserve(duals_.size());
    for (int64_t i = 0; i < rows.rows; ++i)
      if (costs[i] > 0) order_.push_back(i);
  }

  /// `out`: [features + 1].
  void run(double* out, DualFit& found) {
    double first = 0;
    found.converged = order_.empty();
    take_all();
    while (!found.converged && found.iterations < problem_.most) {
      const Violation made = round(static_cast<uint32_t>(found.iterations));
      if (++found.iterations == 1) first = made.total;
      // As LIBLINEAR ends: of classes by the worst row, of numbers by all.
      found.violation = problem_.margin ? made.largest : first > 0 ? made.total / first : 0;
      if (found.violation > problem_.tolerance) {
        leave_out_ = made.largest;
        continue;
      }
      found.converged = active_ == order_.size();
      take_all();
    }
    std::copy(w_.begin(), w_.end(), out);
    out[rows_.features] *= problem_.intercept_scaling;
  }

 private:
  void take_all() {
    active_ = order_.size();
    leave_out_ = std::numeric_limits<double>::infinity();
  }

  struct Violation {
    double largest = 0;
    double total = 0;
  };

  /// What a round met.
  Violation round(uint32_t number) {
    Violation met;
    for (size_t place = 0; place < active_; ++place) {
      const uint64_t word = philox_word(philox_block({problem_.seed, number}, place), 0);
      std::swap(order_[place], order_[place + word % (active_ - place)]);
    }
    for (size_t place = 0; place < active_;) {
      if (place % 4096 == 0) look_for_interrupt();
      const double violation = step(order_[place]);
      if (violation < 0) {
        std::swap(order_[place], order_[--active_]);
        continue;
      }
      met.largest = std::max(met.largest, violation);
      met.total += violation;
      ++place;
    }
    return met;
  }

  /// Moves the dual of a row to where it costs least; how far its slope was from that, or -1 where
  /// it is at a bound that holds.
  double step(int64_t i) {
    const auto at = static_cast<size_t>(i);
    double& dual = duals_[at];
    const double target = targets_[i], cost = costs_[i], unit = problem_.intercept_scaling;
    const double low = problem_.margin && target > 0 ? 0 : -cost;
    const double high = problem_.margin && target < 0 ? 0 : cost;
    const double curve = squares_[i] + unit * unit;
    const double slope = rows_.dot(i, w_.data()) + unit * w_.back() - target;
    const double rising = slope + problem_.epsilon, falling = slope - problem_.epsilon;
    // The slopes to the right and to the left of the dual.
    const double right = dual >= 0 ? rising : falling, left = dual > 0 ? rising : falling;
    const bool up = right < 0 && dual < high, down = left > 0 && dual > low;
    if (!up && !down) {
      const bool held = (dual == low && right > leave_out_) || (dual == high && left < -leave_out_);
      const bool middle = dual == 0 && right > leave_out_ && left < -leave_out_;
      return held || middle ? -1 : 0;
    }
    if (!(curve > 0)) return 0;
    const double free = dual - slope / curve, soft = problem_.epsilon / curve;
    const double wanted = free > soft ? free - soft : free < -soft ? free + soft : 0;
    const double next = std::clamp(wanted, low, high);
    rows_.add(i, next - dual, w_.data());
    w_.back() += (next - dual) * unit;
    dual = next;
    return up ? -right : left;
  }

  const Rows& rows_;
  const double* squares_;
  const double* targets_;
  const double* costs_;
  const DualProblem& problem_;
  BudgetedVector<double> w_;
  BudgetedVector<double> duals_;
  BudgetedVector<int64_t> order_;
  size_t active_ = 0;
  double leave_out_ = 0;
};

template <class Rows>
DualFit fit(const Rows& rows, const Tensor& targets, const Tensor& costs,
            const DualProblem& problem) {
  const int64_t outputs = targets.num_dimensions() == 2 ? targets.shape()[0] : 1;
  const int64_t width = rows.features + 1;
  check_rows(targets, outputs, rows.rows, "targets");
  check_rows(costs, outputs, rows.rows, "costs");
  constexpr int64_t kStep = 1024;
  BudgetedVector<double> squares(static_cast<size_t>(rows.rows));
  parallel_for(divide_up(rows.rows, kStep), [&](int64_t k) {
    for (int64_t i = k * kStep; i < std::min(rows.rows, (k + 1) * kStep); ++i)
      squares[static_cast<size_t>(i)] = rows.square(i);
  });
  Buffer made = doubles(checked_multiply("fit_dual", outputs, width));
  std::vector<DualFit> parts(static_cast<size_t>(outputs));
  const auto run = [&](int64_t k) {
    Descent<Rows>(rows, squares.data(), targets.as<double>() + k * rows.rows,
                  costs.as<double>() + k * rows.rows, problem)
        .run(made.mutable_as<double>() + k * width, parts[static_cast<size_t>(k)]);
  };
  if (outputs == 1)
    run(0);  // on this thread, which sees interrupts
  else
    parallel_for(outputs, run);
  DualFit found;
  for (const DualFit& part : parts) {
    found.iterations = std::max(found.iterations, part.iterations);
    found.violation = std::max(found.violation, part.violation);
    found.converged = found.converged && part.converged;
  }
  found.coefficients = Tensor(dtype_of<double>(), {outputs, width}, std::move(made));
  return found;
}

}  // namespace

DualFit fit_dual(const Tensor& x, const Tensor& targets, const Tensor& costs,
                 const DualProblem& problem) {
  const ScopedTag tag("fit_dual");
  return fit(DenseRows(RowTiles(x)), targets, costs, problem);
}

DualFit fit_dual(const Sparse& x, const Tensor& targets, const Tensor& costs,
                 const DualProblem& problem) {
  const ScopedTag tag("fit_dual");
  DualFit found;
  visit_entries(x, [&]<class Index, class Number>(Index, Number) {
    found = fit(SparseRows<Index, Number>(x), targets, costs, problem);
  });
  return found;
}

}  // namespace hr
