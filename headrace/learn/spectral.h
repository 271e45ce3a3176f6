// SPDX-License-Identifier: Apache-2.0
// Coordinates of a graph: eigenvectors of its Laplacian.
#pragma once
#include "headrace/data/sparse.h"

#include <cstdint>

namespace hr {

/// Eigenvectors of the normalised Laplacian I - D^(-1/2) W D^(-1/2) of the `count` smallest values
/// above 0, as columns of a float64 matrix [rows, count]: subspace iteration with Chebyshev filters
/// (Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, Journal of Computational Physics 219, 2006)
/// from a fixed start, to residuals of 1e-3: good enough to begin from, and the same bits for any
/// number of threads. `weights` is symmetric, float32 and not negative. Empty, [0, count], where
/// the graph falls apart or has too few rows.
HR_API Tensor spectral_coordinates(const Sparse& weights, int64_t count);

}  // namespace hr
