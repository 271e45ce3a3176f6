// SPDX-License-Identifier: Apache-2.0
// Linear support vector machines of classes and of numbers, by their dual.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/sparse.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// What is lowered: `|w|^2 / 2` plus the cost of each row times how far its score is from its
/// target beyond `epsilon`; with `margin`, targets are -1 and 1, and scores beyond them cost
/// nothing.
struct DualProblem {
  bool margin = true;
  double epsilon = 0;
  double intercept_scaling = 1;  ///< the constant is a coefficient of a column of this; 0: none
  double tolerance = 1e-4;       ///< of the violation
  int64_t most = 1000;           ///< rounds over the rows
  uint64_t seed = 0;             ///< of their order
};

struct DualFit {
  Tensor coefficients;     ///< float64 [outputs, features + 1]; the last is the constant
  int64_t iterations = 0;  ///< the most of an output
  double violation = 0;    ///< with `margin` the worst row's slope, else all in parts of the first
  bool converged = true;   ///< all of them
};

/// Dual coordinate descent (C. Hsieh and others, ICML 2008; C. Ho and C. Lin, JMLR 13, 2012) over
/// rows in random order; rows at a bound that holds are left out until the end. `targets` and
/// `costs` are float64 [outputs, rows]; outputs are found side by side, each on one thread. Dense
/// rows are copied as float64, and an output takes 24 bytes a row. The same bits for any number of
/// threads. Throws TypeMismatchError and InvalidArgumentError for other arrays.
HR_API DualFit fit_dual(const Tensor& x, const Tensor& targets, const Tensor& costs,
                        const DualProblem& problem);
HR_API DualFit fit_dual(const Sparse& x, const Tensor& targets, const Tensor& costs,
                        const DualProblem& problem);

}  // namespace hr
