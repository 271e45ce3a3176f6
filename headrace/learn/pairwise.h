// SPDX-License-Identifier: Apache-2.0
// Distances of all pairs, and their sums by class.
#pragma once
#include "headrace/learn/neighbors.h"

#include <cstdint>

namespace hr {

// Rows are [rows, features], float32 or float64, of any strides; distances are float64, summed over
// the features in order. The same bits for any number of threads and any SIMD level. All throw as
// the functions of neighbors.h do.

/// Distances from each query to each row, float64 [queries, rows]; with `same`, queries are the
/// rows and have no distance to themselves.
HR_API Tensor pairwise_distances(const Tensor& queries, const Tensor& rows, Metric metric,
                                 bool same);

/// How much nearer each row is to its own class than to the next, float64 [rows] from -1 to 1
/// (P. Rousseeuw, J. Comp. Appl. Math. 20, 1987). `labels` is int64 [rows], from 0 on without gaps.
/// Scratch grows with the number of rows only.
HR_API Tensor silhouettes(const Tensor& x, const Tensor& labels, Metric metric);

/// The row of each class, int64, whose distances to the rows of its class have the least sum, times
/// their `weights`, float64 [rows]; ties to the lowest row. Rows of a label below 0 have no class.
HR_API Tensor medoids(const Tensor& x, const Tensor& labels, const Tensor& weights, Metric metric);

}  // namespace hr
