// SPDX-License-Identifier: Apache-2.0
// The minimum spanning tree of rows by their mutual reachability.
#pragma once
#include "headrace/exec/working_memory.h"
#include "headrace/learn/neighbors.h"
#include "headrace/memory/adaptors/allocator.h"

#include <cstdint>

namespace hr {

/// An edge between rows; `distance` is their reduced one.
struct TreeEdge {
  int64_t from, to;
  double weight, distance;
};

struct Reachability {
  int64_t min_samples;       ///< a row's core distance is that to this many rows, itself included
  double alpha = 1;          ///< divides distances between rows
  bool scale_cores = false;  ///< and core distances too
  Metric metric = Metric::kEuclidean;
};

/// The tree of the n - 1 least edges, where an edge weighs the largest of the core distances of its
/// ends and of their distance over alpha; in ascending order, equal weights by distance and then by
/// the rows, so there is one tree. O. Boruvka's rounds (1926) by a kd-tree up to 12 Euclidean
/// dimensions (W. March, P. Ram and A. Gray, KDD 2010; L. McInnes and J. Healy, ICDMW 2017), else
/// by tiles of all pairs. Rows are finite; scratch is of their size. The same tree for any number
/// of threads and any SIMD level.
BudgetedVector<TreeEdge> reachability_tree(const Tensor& x, const Reachability& by);

/// What it takes.
WorkingBytes reachability_working_bytes(const Tensor& x, const Reachability& by);

}  // namespace hr
