// SPDX-License-Identifier: Apache-2.0
// HDBSCAN: clusters of rows at the densities at which they are stable.
#pragma once
#include "headrace/learn/spanning_tree.h"

#include <string>

namespace hr {

/// Merges in ascending order: the i-th makes node `rows + i` of two nodes; nodes below `rows` are
/// rows. The left node is the one that a traversal of the spanning tree from row 0 meets first.
struct Linkage {
  Tensor left;     ///< int64 [rows - 1]
  Tensor right;    ///< int64
  Tensor heights;  ///< float64
  Tensor sizes;    ///< int64, rows in the new node
};

/// The hierarchy of the splits into two clusters that are large enough: what leaves which cluster.
/// Clusters are numbered from `rows`, the root, on, level by level; lower numbers are rows.
struct CondensedTree {
  Tensor parents;   ///< int64, clusters
  Tensor children;  ///< int64, clusters or rows
  Tensor lambdas;   ///< float64, one over the height, at which the child leaves
  Tensor sizes;     ///< int64, rows of the child
};

struct ClusterSelection {
  bool leaves = false;  ///< the leaves of the tree instead of the excess of mass
  bool allow_single = false;
  double epsilon = 0;  ///< clusters that are born at lower heights are merged upwards
  int64_t most_rows;   ///< of a cluster by excess of mass
};

struct ClusterLabels {
  Tensor labels;         ///< int64 [rows], -1 for noise
  Tensor probabilities;  ///< float64 [rows], how long a row stays in its cluster, at most 1
};

// HDBSCAN* (R. Campello, D. Moulavi and J. Sander, PAKDD 2013; L. McInnes and J. Healy, ICDMW 2017)
// in three steps, of which only the first reads the rows. Scratch is of the size of the rows.

/// Rows are [rows, features], float32 or float64, of any strides, finite. Throws as neighbors.h,
/// and InvalidArgumentError for less than two rows, or than `min_samples`.
HR_API Linkage reachability_linkage(const Tensor& x, const Reachability& by);

HR_API CondensedTree condense(const Linkage& linkage, int64_t min_cluster_size);

HR_API ClusterLabels select_clusters(const CondensedTree& tree, const ClusterSelection& by);

/// Labels of the clusters that merges below `height` make, if they have `min_cluster_size` rows.
HR_API Tensor cut_linkage(const Linkage& linkage, double height, int64_t min_cluster_size);

}  // namespace hr
