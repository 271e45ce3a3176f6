// SPDX-License-Identifier: Apache-2.0
// Random forests of histogram trees, for classes and for numbers.
#pragma once
#include "headrace/learn/forest_bins.h"

#include <cstdint>
#include <string>

namespace hr {

enum class ForestCriterion : uint8_t { kGini, kEntropy, kSquaredError };

struct ForestOptions {
  ForestCriterion criterion = ForestCriterion::kGini;
  int64_t num_trees = 100;
  int64_t num_classes = 0;  ///< 0 with kSquaredError, else at least 1
  int64_t max_depth = -1;   ///< -1: until leaves are pure
  int64_t min_samples_split = 2;
  int64_t min_samples_leaf = 1;
  double min_weight_fraction_leaf = 0;
  double min_impurity_decrease = 0;
  int64_t max_features = 1;      ///< of which a node chooses, drawn anew for each
  int64_t bootstrap = 0;         ///< rows drawn with replacement for each tree; 0: all rows once
  bool balance_samples = false;  ///< classes weigh the same in each tree's rows
  bool random_splits = false;    ///< of a feature one split at random, not the best (extra trees)
  uint64_t seed = 0;
};

/// Trees one after the other, each node before its children and the left one right behind it.
struct Forest {
  Tensor offsets;      ///< int64 [trees + 1], the first node of each tree
  Tensor link;         ///< int64 [nodes], -1 in a leaf, else as `forest_link` makes it
  Tensor threshold;    ///< float64 [nodes]; values up to it go left
  Tensor value;        ///< float64 [nodes, outputs]: shares of the classes, or the mean
  Tensor samples;      ///< int64 [nodes], distinct rows of the fit
  Tensor importances;  ///< float64 [features], mean over trees, sum 1 (or 0 without splits)
};

/// Fits trees on `y`, float64 [rows]: numbers of classes below `num_classes`, or targets. `weights`
/// (float64, or null: 1 each) are the chances of rows to be drawn, or without bootstrap what they
/// weigh. Splits are of largest gain, ties by feature, then bin, counted in integers, so the trees
/// are the same for any number of threads. Rows with NaN go to the side of the larger gain.
/// Where the codes are on a CUDA device, trees grow there, the same ones.
/// A tree is a task: each worker takes 28 bytes a row (36 with weights) and its nodes. Throws
/// InvalidArgumentError for sizes that do not agree, labels outside the classes, or 2^30 rows and
/// more.
HR_API Forest forest_fit(const ForestBins& bins, const Tensor& y, const Tensor* weights,
                         const ForestOptions& options);

/// Why `forest_fit` has no kernel for CUDA, which takes Gini impurity of at most 16 classes or
/// targets, no weights, and the best splits of at most 4096 features; empty: it has one.
HR_API std::string forest_why_no_kernel(const ForestOptions& options, int64_t features,
                                        bool weighted);

/// The mean over trees of the values of the leaves: float64 [rows, outputs]. A NaN goes where
/// training sent it. Throws TypeMismatchError unless `x` is 2-D float32 or float64 and
/// InvalidArgumentError for a number of columns that is not `features`.
HR_API Tensor forest_predict(const Forest& model, int64_t features, const Tensor& x);

/// The leaf of each row in each tree, by its number in the tree: int64 [rows, trees].
HR_API Tensor forest_apply(const Forest& model, int64_t features, const Tensor& x);

/// As forest_predict for the rows of the fit, over the trees that did not draw the row: NaN for a
/// row that all drew. `weights` and `options` are those of the fit.
HR_API Tensor forest_predict_out_of_bag(const Forest& model, const Tensor& x, const Tensor* weights,
                                        const ForestOptions& options);

/// An isolation forest (F. T. Liu, K. M. Ting, Z.-H. Zhou, "Isolation forest", ICDM 2008): the tree
/// k parts the rows `chosen[k]` of `x` at random, to `max_depth`. The value of a leaf is the length
/// of the path to it, with what its rows would take further. `chosen` is int64 [trees, rows]; of
/// `options` only `max_depth` and `seed` count. Throws as forest_bins and forest_fit do, and
/// InvalidArgumentError for rows that `x` does not have.
HR_API Forest isolation_fit(const Tensor& x, const Tensor& chosen, const ForestOptions& options);

/// Throws InvalidArgumentError unless a forest from outside has these shapes and dtypes, its trees
/// end, and they ask for columns below `features`. Reads every node.
HR_API void check_forest(const Forest& model, int64_t features);

/// The mean length of a path to one of `rows` rows by themselves.
HR_API double isolation_path(double rows);

}  // namespace hr
