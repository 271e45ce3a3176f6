// SPDX-License-Identifier: Apache-2.0
// Directions by two loops over the last steps; in orthants where absolute values cost.
#include "headrace/learn/lbfgs.h"

#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {
namespace {

using Numbers = BudgetedVector<double>;

constexpr double kDecrease = 1e-4;
constexpr double kCurvature = 0.9;
constexpr double kRounding = 0x1p-50;  // differences of values that float64 cannot tell

double dot(const Numbers& a, const Numbers& b) {
  return cpu::dot(a.data(), b.data(), static_cast<int64_t>(a.size()));
}

void add_scaled(Numbers& to, double scale, const Numbers& from) {
  cpu::add_scaled(to.data(), scale, from.data(), static_cast<int64_t>(to.size()));
}

double largest(const Numbers& values) {
  double most = 0;
  for (double value : values) most = std::max(most, std::fabs(value));
  return most;
}

class Search {
 public:
  Search(Numbers& at, const Objective& objective, const Metric& metric, const LbfgsOptions& options,
         LbfgsMemory& memory)
      : at_(at),
        objective_(objective),
        metric_(metric),
        l1_(options.l1),
        gradient_(at.size()),
        pairs_(memory.pairs),
        scale_(memory.scale) {
    value_ = evaluate(at_, gradient_);
    slope_ = steepest();
  }

  double residual() const { return largest(slope_); }

  /// One iteration; false where there is no lower value.
  bool step() {
    Numbers direction = descent();
    double down = dot(direction, slope_);
    if (!(down < 0)) {
      if (pairs_.empty()) return false;
      pairs_.clear();
      return step();
    }
    const double before = value_;
    if (!walk(direction, down)) {
      if (pairs_.empty()) return false;
      pairs_.clear();  // what the last steps said does not hold here
      return true;
    }
    // Twice no decrease that float64 tells: the end of what it can.
    still_ = before - value_ <= kRounding / 4 * std::fabs(before) ? still_ + 1 : 0;
    return still_ < 2;
  }

 private:
  double evaluate(const Numbers& at, Numbers& gradient) const {
    double value = objective_(at.data(), gradient.data());
    for (size_t i = 0; i < l1_.size(); ++i) value += l1_[i] * std::fabs(at[i]);
    return value;
  }

  /// The gradient, with absolute values the one of the smallest elements that a side has.
  Numbers steepest() const {
    Numbers slope = gradient_;
    for (size_t i = 0; i < l1_.size(); ++i) {
      const double cost = l1_[i];
      if (at_[i] != 0)
        slope[i] += std::copysign(cost, at_[i]);
      else if (cost > 0)
        slope[i] = slope[i] > cost ? slope[i] - cost : slope[i] < -cost ? slope[i] + cost : 0.0;
    }
    return slope;
  }

  Numbers descent() const {
    Numbers direction = slope_;
    Numbers shares(pairs_.size());
    for (size_t k = pairs_.size(); k-- > 0;) {
      shares[k] = dot(pairs_[k].step, direction) / pairs_[k].product;
      add_scaled(direction, -shares[k], pairs_[k].change);
    }
    metric_(direction.data());
    if (!pairs_.empty())
      for (double& value : direction) value *= scale_;
    for (size_t k = 0; k < pairs_.size(); ++k) {
      const double share = dot(pairs_[k].change, direction) / pairs_[k].product;
      add_scaled(direction, shares[k] - share, pairs_[k].step);
    }
    for (double& value : direction) value = -value;
    for (size_t i = 0; i < l1_.size(); ++i)
      if (l1_[i] > 0 && direction[i] * slope_[i] >= 0) direction[i] = 0;
    return direction;
  }

  /// The side of zero on which element `i` stays in this iteration.
  double side(size_t i) const { return at_[i] != 0 ? at_[i] : -slope_[i]; }

  /// Moves along `direction`, down which the value falls by `down` a unit; false: nowhere.
  bool walk(const Numbers& direction, double down) {
    double step = 1, below = 0, above = std::numeric_limits<double>::infinity();
    Numbers place(at_.size()), gradient(at_.size());
    for (int trial = 0; trial < 60; ++trial) {
      double foreseen = 0;
      bool moved = false;
      for (size_t i = 0; i < at_.size(); ++i) {
        place[i] = at_[i] + step * direction[i];
        if (!l1_.empty() && l1_[i] > 0 && place[i] * side(i) <= 0) place[i] = 0;
        foreseen += slope_[i] * (place[i] - at_[i]);
        moved = moved || place[i] != at_[i];
      }
      if (!moved) return false;
      const double value = evaluate(place, gradient);
      if (!(value <= value_ + kDecrease * foreseen + kRounding * std::fabs(value_)))
        above = step;
      else if (l1_.empty() && dot(gradient, direction) < kCurvature * down && trial < 30)
        below = step;
      else
        return accept(place, gradient, value);
      step = above < std::numeric_limits<double>::infinity() ? (below + above) / 2 : 2 * step;
    }
    return false;
  }

  bool accept(Numbers& place, Numbers& gradient, double value) {
    LbfgsPair pair{place, gradient, 0};
    add_scaled(pair.step, -1, at_);
    add_scaled(pair.change, -1, gradient_);
    pair.product = dot(pair.step, pair.change);
    at_ = place;
    gradient_ = gradient;
    value_ = value;
    slope_ = steepest();
    if (pair.product >
        1e-12 * std::sqrt(dot(pair.step, pair.step) * dot(pair.change, pair.change))) {
      Numbers turned = pair.change;
      metric_(turned.data());
      scale_ = pair.product / dot(pair.change, turned);
      pairs_.push_back(std::move(pair));
      if (pairs_.size() > size_t{kLbfgsPairs}) pairs_.pop_front();
    }
    return true;
  }

  Numbers& at_;
  const Objective& objective_;
  const Metric& metric_;
  const Numbers& l1_;
  Numbers gradient_;
  Numbers slope_;
  std::deque<LbfgsPair>& pairs_;
  double& scale_;
  double value_ = 0;
  int still_ = 0;
};

}  // namespace

LbfgsResult minimize_lbfgs(Numbers& at, const Objective& objective, const Metric& metric,
                           const LbfgsOptions& options, LbfgsMemory& memory) {
  Search search(at, objective, metric, options, memory);
  LbfgsResult result;
  result.converged = search.residual() <= options.tolerance;
  while (!result.converged && result.iterations < options.most) {
    const bool going = search.step();
    ++result.iterations;
    result.converged = !going || search.residual() <= options.tolerance;
  }
  result.gradient = search.residual();
  return result;
}

}  // namespace hr
