// SPDX-License-Identifier: Apache-2.0
// Shortest paths where weights may be negative.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// As `shortest_path_table`, of weights of any sign: `distance`, and `predecessor`, of several the
/// first by the fewest edges. Vertices whose distance fell tell their neighbours, round by round,
/// on one thread (R. Bellman, 1958; L. Ford, 1956); after 1, 2, 4, ... rounds it checks
/// whether predecessors go in a cycle. Throws InvalidArgumentError for a negative cycle, which an
/// undirected negative edge is too. 24 bytes a vertex and 8 an entry.
HR_API NodePtr bellman_ford_table(const Graph& graph, const NodePtr& weights, int64_t source);

}  // namespace hr
