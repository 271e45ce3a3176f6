// SPDX-License-Identifier: Apache-2.0
// Trusses: edges by the triangles that they are in.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// How many triangles each edge is in, int64 [edges], of an undirected graph that keeps its edges;
/// 0 of self loops. Rows are oriented to the vertices of larger degree; 12 bytes an edge. Throws
/// InvalidArgumentError for a directed graph and a multigraph.
HR_API Column edge_support(const Graph& graph);

/// The numbers of the edges of the k-truss, int64, ascending: the most edges of which each is in
/// k - 2 triangles of them (J. Cohen, 2008). Those in fewer are taken away, all at once, and the
/// triangles that they close counted off. Throws InvalidArgumentError as `edge_support`, and for
/// self loops.
HR_API Column k_truss(const Graph& graph, int64_t k);

}  // namespace hr
