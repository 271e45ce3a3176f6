// SPDX-License-Identifier: Apache-2.0
// The minimum of a function of many numbers, from its gradients.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/adaptors/allocator.h"

#include <cstdint>
#include <deque>
#include <functional>

namespace hr {

/// Steps that it remembers, two vectors each.
inline constexpr int64_t kLbfgsPairs = 10;

struct LbfgsOptions {
  int64_t most = 100;              ///< iterations
  double tolerance = 1e-4;         ///< of the largest element of the gradient
  BudgetedVector<double> l1 = {};  ///< of each number: how much its absolute value costs; or empty
};

/// A step, and how the gradient changed on it.
struct LbfgsPair {
  BudgetedVector<double> step;
  BudgetedVector<double> change;
  double product = 0;
};

/// What a search knows of the second derivatives; a later one of nearly the same function may begin
/// with it.
struct LbfgsMemory {
  std::deque<LbfgsPair> pairs = {};
  double scale = 1;  ///< of the metric
};

struct LbfgsResult {
  int64_t iterations = 0;
  double gradient = 0;  ///< its largest element where the search ended
  bool converged =
      false;  ///< the gradient is within the tolerance, or float64 tells no lower value
};

/// The value at a place, and the gradient there.
using Objective = std::function<double(const double* at, double* gradient)>;

/// Replaces a gradient by its product with about the inverse of the second derivatives.
using Metric = std::function<void(double* vector)>;

/// L-BFGS (J. Nocedal, Mathematics of Computation 35, 1980) with ten pairs, a metric of the caller
/// and a search for a weak Wolfe point by halves; with `l1` OWL-QN (G. Andrew and J. Gao, ICML
/// 2007). Moves `at` to the minimum. One thread but for `objective` and `metric`.
LbfgsResult minimize_lbfgs(BudgetedVector<double>& at, const Objective& objective,
                           const Metric& metric, const LbfgsOptions& options, LbfgsMemory& memory);

}  // namespace hr
