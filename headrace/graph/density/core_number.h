// SPDX-License-Identifier: Apache-2.0
// Cores: what is left of a graph when vertices of small degree are taken away.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The largest k such that a vertex is in a subgraph whose vertices all have k neighbours in it,
/// int64. Edges in and out of a directed graph both count, each of several edges too. All vertices
/// of the least degree are taken away at once (H. Kabir, K. Madduri, "Parallel k-core decomposition
/// on multicore platforms", IPDPSW 2017). 12 bytes a vertex. Throws InvalidArgumentError for self
/// loops.
HR_API Column core_number(const Graph& graph);

/// The same, later, as `core`.
HR_API NodePtr core_number_table(const Graph& graph);

}  // namespace hr
