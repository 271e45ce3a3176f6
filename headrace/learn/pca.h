// SPDX-License-Identifier: Apache-2.0
// Principal component analysis: the directions in which rows vary most.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// What `pca_fit` learns. Tensors are in the dtype of the rows it was fitted on, C-contiguous,
/// where those were.
struct Pca {
  Tensor mean;                ///< [features]
  Tensor components;          ///< [components, features], rows of length 1
  Tensor explained_variance;  ///< [components], largest first, with rows - 1 degrees of freedom
  double total_variance = 0;  ///< of all features together
  double noise_variance = 0;  ///< mean variance of the directions left out, 0 when none is
  int64_t num_rows = 0;
};

/// Fits on `x`, [rows, features], float32 or float64, any strides, by the covariance matrix in
/// float64 and its eigenvectors. The largest loading of each component is positive, as in
/// scikit-learn. The same bits for any number of threads. O(rows features^2 + features^3) time;
/// scratch as for `gram`. Of rows on a CUDA device sums and products
/// are made there, with the same bits, and the eigenvectors on the host. Throws TypeMismatchError
/// for other dtypes or dimensions; InvalidArgumentError for fewer than 2 rows, NaN or infinite
/// values, or unless 1 <= num_components <= min(rows, features).
HR_API Pca pca_fit(const Tensor& x, int64_t num_components);

/// Coordinates of the rows of `x` along the components: [rows, components], in the dtype of `x`,
/// summed in float64. A NaN makes its row NaN.
/// These three throw TypeMismatchError unless `x` is 2-D float32 or float64 and
/// InvalidArgumentError for a number of columns that the model does not have.
HR_API Tensor pca_transform(const Pca& model, const Tensor& x);

/// Rows back from their coordinates: [rows, features], in the dtype of `latent`.
HR_API Tensor pca_inverse_transform(const Pca& model, const Tensor& latent);

/// Mean squared difference between each row and what its coordinates give back: float64 [rows].
/// High for rows unlike those of the fit: an outlier score.
HR_API Tensor pca_reconstruction_error(const Pca& model, const Tensor& x);

}  // namespace hr
