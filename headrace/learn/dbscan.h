// SPDX-License-Identifier: Apache-2.0
// Clusters of dense rows.
#pragma once
#include "headrace/learn/neighbors.h"

namespace hr {

/// What `dbscan` finds.
struct DenseClusters {
  Tensor labels;  ///< int64 [rows]: clusters by their lowest core row, -1 for noise
  Tensor core;    ///< int64, the core rows, ascending
};

/// DBSCAN (M. Ester, H.-P. Kriegel, J. Sander and X. Xu, KDD 1996): a row is a core row if those at
/// most `epsilon` away, itself included, weigh `least_weight`; core rows that near are of one
/// cluster, and other rows belong to the lowest cluster that has a core row near them. `weights` is
/// float64 [rows], or of no elements for ones. Up to three Euclidean dimensions by a grid of cells
/// that one core row fills (A. Gunawan 2013), else by tiles of all pairs, twice; neighbours are
/// never listed, so the scratch is of the size of the rows, or less. The same bits for any number
/// of threads, and on a CUDA device for Euclidean distances and their squares. Throws as the
/// functions of neighbors.h do.
HR_API DenseClusters dbscan(const Tensor& x, const Tensor& weights, double epsilon,
                            double least_weight, Metric metric);

}  // namespace hr
