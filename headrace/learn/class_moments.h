// SPDX-License-Identifier: Apache-2.0
// Means and variances of the rows of each class, and how likely rows are by them.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/sparse.h"
#include "headrace/data/tensor.h"

namespace hr {

/// What `class_moments` finds; all float64.
struct ClassMoments {
  Tensor weight;   ///< [classes]: the rows of each class, or the sum of their weights
  Tensor sum;      ///< [classes, columns]: weighted; exact for integers below 2^53
  Tensor squares;  ///< [classes, columns]: sums of squared deviations from the mean
};

/// Moments of `x`, [rows, columns] of real numbers with any strides, by class: `codes` is int64
/// [rows], each from 0 to below `classes`, and `weights` float64 [rows], or of no elements for
/// ones. Reads the rows once: blocks of 256 rows around their own means, joined in order (T. Chan,
/// G. Golub and R. LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample
/// Variances, 1979) in parts that follow from the shape. So large means cost no digits, and the
/// bits are the same for any number of threads. Scratch is one such result a part. Throws
/// TypeMismatchError for other dtypes, InvalidArgumentError for sizes and codes that do not fit.
HR_API ClassMoments class_moments(const Tensor& x, const Tensor& codes, const Tensor& weights,
                                  int64_t classes);

/// What `class_sums` finds, as in `ClassMoments`.
struct ClassSums {
  Tensor weight;
  Tensor sum;
};

/// Sums of sparse rows by class; codes and weights as above. The rows of a class are added in
/// order, and each class is a task: the same bits for any number of threads. About 2 ns an entry.
HR_API ClassSums class_sums(const Sparse& x, const Tensor& codes, const Tensor& weights,
                            int64_t classes);

/// What `gaussian_scores` takes of variances, [classes, columns], and of how likely each class is,
/// [classes]; all float64.
struct GaussianTerms {
  Tensor scale;
  Tensor constant;
};

HR_API GaussianTerms gaussian_terms(const Tensor& variance, const Tensor& prior);

/// `constant[c] - sum over j of (x[i, j] - mean[c, j])^2 * scale[c, j]`, j in order: float64
/// [rows, classes]. `mean` and `scale` are float64 [classes, columns], `constant` is float64
/// [classes], all C-contiguous. Throws as above.
HR_API Tensor gaussian_scores(const Tensor& x, const Tensor& mean, const Tensor& scale,
                              const Tensor& constant);

}  // namespace hr
