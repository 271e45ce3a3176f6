// SPDX-License-Identifier: Apache-2.0
// PageRank: how often a random surfer, who starts anew at times, is at a vertex.
#pragma once
#include "headrace/graph/structure/graph.h"

#include <optional>

namespace hr {

struct PageRankOptions {
  double alpha = 0.85;  ///< how often the surfer follows an edge
  int64_t max_iter = 100;
  double tolerance = 1e-6;  ///< of the sum of all changes, per vertex
  bool strict = true;       ///< else the last step is good enough, with advice
};

/// What may be given by vertex, float64 each: where the surfer starts anew, where they start, where
/// they go from vertices without edges out. They are scaled to a sum of 1; the first and second are
/// even by default, the third is as the first.
struct PageRankVectors {
  std::optional<Column> personalization{};
  std::optional<Column> start{};
  std::optional<Column> dangling{};
};

/// float64 of each vertex, of sum 1. `weights`: float64 of each edge in `edge_rows`, of a graph
/// that keeps edges. By pulling (L. Page, S. Brin and others, 1999) what hubs give from near caches
/// (hub_order.h): each row sums in 8 lanes, and sums over vertices go piece by piece, so the bits
/// do not depend on threads. 24 bytes a vertex, 8 an entry more with weights. Throws
/// ConvergenceError if strict, and InvalidArgumentError for values that are negative, not finite or
/// all 0.
HR_API Column pagerank(const Graph& graph, const PageRankOptions& options,
                       const PageRankVectors& vectors, const std::optional<Column>& weights);

/// The same, later, as `pagerank`; a null node is none.
HR_API NodePtr pagerank_table(const Graph& graph, const PageRankOptions& options,
                              const NodePtr& personalization, const NodePtr& start,
                              const NodePtr& dangling, const NodePtr& weights);

}  // namespace hr
