// SPDX-License-Identifier: Apache-2.0
// Linear models that lower a smooth loss: logistic regression, squared hinges and
// squared distances.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/sparse.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string>

namespace hr {

enum class LinearLoss : uint8_t {
  kLogistic,         ///< targets 0 and 1
  kMultinomial,      ///< targets are numbers of classes, one output for each
  kSquaredHinge,     ///< targets 0 and 1
  kSquaredDistance,  ///< of a score from its target, beyond `epsilon`
};

/// What is lowered: the weighted mean of the losses, plus `l2 / 2` times the squares and `l1` times
/// the absolute values of the coefficients.
struct LinearProblem {
  LinearLoss loss = LinearLoss::kLogistic;
  int64_t outputs = 1;
  double l1 = 0;
  double l2 = 0;
  double epsilon = 0;
  bool intercept = true;
  double intercept_scaling =
      0;                    ///< the constant is a coefficient of a column of this; 0: it is free
  double tolerance = 1e-4;  ///< of the largest element of the gradient
  int64_t most = 100;       ///< iterations
};

struct LinearFit {
  Tensor coefficients;  ///< float64 [outputs, features + 1]; the last is the constant
  Tensor scales;        ///< float64 [features]: the root mean square of each column less its mean
  int64_t iterations = 0;
  double gradient = 0;  ///< the largest element where the search ended
  bool converged = false;
};

/// Rows are [rows, features], float32 or float64, of any strides, or sparse; `targets` and
/// `weights` (of no elements: ones) are float64 [rows], `start` float64 [outputs, features + 1] or
/// of no elements. L-BFGS from there, with about the second derivatives at zero as its metric: so
/// columns need not be scaled; of many rows, some are searched first. An evaluation reads the rows
/// once, a tile that fits the cache at a time. Sums are float64 in parts by shape: the same bits
/// for any number of threads and SIMD level. Scratch: a tile and the gradient of each part, and ten
/// steps. Of dense rows on a CUDA device, with targets and weights there, evaluations are made
/// there with the same bits; `start` and the results are on the host. Throws TypeMismatchError and
/// InvalidArgumentError for other arrays.
HR_API LinearFit fit_linear(const Tensor& x, const Tensor& targets, const Tensor& weights,
                            const Tensor& start, const LinearProblem& problem);
HR_API LinearFit fit_linear(const Sparse& x, const Tensor& targets, const Tensor& weights,
                            const Tensor& start, const LinearProblem& problem);

struct LinearGradient {
  Tensor gradient;  ///< float64 [outputs, features + 1]; the last is by the constant
  double loss = 0;
};

/// The sum over rows of the weighted losses at `coefficients`, float64 [outputs, features + 1], and
/// its gradient, without penalty: one evaluation of `fit_linear`, for a search of another library.
HR_API LinearGradient linear_gradient(const Tensor& x, const Tensor& targets, const Tensor& weights,
                                      const Tensor& coefficients, LinearLoss loss);
HR_API LinearGradient linear_gradient(const Sparse& x, const Tensor& targets, const Tensor& weights,
                                      const Tensor& coefficients, LinearLoss loss);

/// The logarithms of exp(score) over the sum of those of its row, in the order of the classes, all
/// less the largest score: finite where the share is too small for a float. Of scores [rows], which
/// are those of the second of two classes against the first, [rows, 2]. Float32 or float64 as
/// `scores`; NaN spreads over its row. Each row for itself, so the same bits for any number of
/// threads. Throws TypeMismatchError for other dtypes and shapes.
HR_API Tensor log_shares(const Tensor& scores);

/// Why dense rows on a device have no kernel for CUDA; empty: they have one.
HR_API std::string why_no_linear_kernel(const Tensor& x, const Tensor& targets,
                                        const Tensor& weights, int64_t outputs);

}  // namespace hr
