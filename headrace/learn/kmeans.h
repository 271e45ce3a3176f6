// SPDX-License-Identifier: Apache-2.0
// k-means: centres such that the squared distances of rows to the nearest one are small.
#pragma once
#include "headrace/algo/random/philox.h"
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// What `kmeans_fit` finds.
struct KMeans {
  Tensor centers;      ///< [clusters, features], in the dtype of the rows
  Tensor labels;       ///< int32 [rows]
  double inertia = 0;  ///< weighted sum of squared distances to the nearest centre
  int64_t iterations = 0;
  int64_t used = 0;  ///< clusters that have rows
};

// Rows are [rows, features], float32 or float64, of any strides; `weights` is float64 [rows], or of
// no elements for ones. Nothing of the size rows x clusters is made, nor a copy of the rows. Labels
// are decided by the float64 distance, ties to the lowest centre; products in float32 only tell
// which centres are too far, within their proven error. Sums are float64 in parts by shape. So all
// results have the same bits for any number of threads, any SIMD level and on a CUDA device, where
// parts of a model may lie on the host. All throw
// TypeMismatchError unless rows are 2-D float32 or float64, and InvalidArgumentError for sizes that
// do not fit.

/// Lloyd's iteration (S. Lloyd, IEEE Transactions on Information Theory 28, 1982) from `init`,
/// [clusters, features], until labels stay, the squared shift of the centres is at most `tolerance`
/// or `most` iterations are done. An empty cluster gets the row that is farthest from its centre.
HR_API KMeans kmeans_fit(const Tensor& x, const Tensor& weights, const Tensor& init, int64_t most,
                         double tolerance);

/// What `kmeans_step` makes.
struct KMeansStep {
  Tensor centers;
  Tensor totals;       ///< float64 [clusters], the weights of all rows that a centre has had
  double inertia = 0;  ///< of the rows, before the centres moved
};

/// One step by a batch (D. Sculley, WWW 2010): each centre moves to the mean of the rows that it
/// had before, whose weights are `totals`, and of those that it has now.
HR_API KMeansStep kmeans_step(const Tensor& x, const Tensor& weights, const Tensor& centers,
                              const Tensor& totals);

/// First centres by greedy k-means++ (D. Arthur and S. Vassilvitskii, SODA 2007), the best of
/// 2 + log(clusters) draws each: float64 [clusters, features].
HR_API Tensor kmeans_plus_plus(const Tensor& x, const Tensor& weights, int64_t clusters,
                               RandomKey key);

/// The nearest centre of each row: int32 [rows].
HR_API Tensor kmeans_predict(const Tensor& centers, const Tensor& x);

/// The weighted sum of squared distances of rows to the centres of their `labels`.
HR_API double kmeans_inertia(const Tensor& centers, const Tensor& x, const Tensor& weights,
                             const Tensor& labels);

/// Distances of rows to all centres: [rows, clusters], in the dtype of the rows.
HR_API Tensor kmeans_transform(const Tensor& centers, const Tensor& x);

}  // namespace hr
