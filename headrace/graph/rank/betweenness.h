// SPDX-License-Identifier: Apache-2.0
// Betweenness: how many shortest paths a vertex or an edge is on.
#pragma once
#include "headrace/graph/structure/graph.h"

#include <optional>

namespace hr {

struct BetweennessOptions {
  std::vector<int64_t> sources{};  ///< vertices whose shortest paths count, distinct
  bool is_sample = false;          ///< they stand for all vertices
  bool normalized = true;
  bool endpoints = false;  ///< the ends of a path count too (of vertices)
};

/// float64 of each vertex, scaled as NetworkX does. `weights`: float64 of each edge, positive. By
/// levels forth and back from each source (U. Brandes, 2001), several sources at once; each
/// source's sums go along rows, and sources are added in their order, so the bits do not depend on
/// threads. 25 bytes a vertex for each source at once: 2 a thread, or 64 in a small graph. Throws
/// InvalidArgumentError where shortest paths are more than float64 counts.
HR_API Column betweenness(const Graph& graph, const BetweennessOptions& options,
                          const std::optional<Column>& weights);

/// The same for each edge in `edge_rows` of a graph that keeps edges; those of several between two
/// vertices that are of the least weight share it. 8 bytes an entry more.
HR_API Column edge_betweenness(const Graph& graph, const BetweennessOptions& options,
                               const std::optional<Column>& weights);

/// Both, later, as `betweenness`; a null node is no weights. The rows of the second are those of
/// `edge_rows`, in row set `domain`.
HR_API NodePtr betweenness_table(const Graph& graph, BetweennessOptions options,
                                 const NodePtr& weights);
HR_API NodePtr edge_betweenness_table(const Graph& graph, BetweennessOptions options,
                                      const NodePtr& weights, uint64_t domain);

}  // namespace hr
