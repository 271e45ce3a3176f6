// SPDX-License-Identifier: Apache-2.0
// Matchings: edges of which no two have a vertex in common.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The numbers of the edges that are taken one after the other, in `order` (int64, numbers of
/// edges; null: as they are), unless one before has a vertex of theirs; int64, ascending. Self
/// loops are left out. 8 bytes an edge and 1 a vertex. Throws InvalidArgumentError for a directed
/// graph.
HR_API Column greedy_matching(std::string_view op, const Graph& graph,
                              const std::optional<Column>& order);

/// The numbers of the edges of a matching with the most edges, int64, ascending, of a graph whose
/// edges are all between a vertex of `top` (numbers) and one that is not: shortest augmenting
/// paths, as many as are disjoint at a time (J. Hopcroft, R. Karp, SIAM J. Comput. 2, 1973). 24
/// bytes a vertex. Throws InvalidArgumentError for a directed graph and an edge within a side.
HR_API Column hopcroft_karp_matching(const Graph& graph, const Column& top);

/// Whether each edge of an undirected graph is between two sides.
HR_API bool is_bipartite(const Graph& graph);

/// The side of each vertex, int64: 1 of the first vertex of each component and of those on its
/// side, 0 of the others and of vertices without edges, as NetworkX has it. Throws
/// InvalidArgumentError where there are no two sides.
HR_API Column bipartite_color(const Graph& graph);

/// The last, later, as `color`.
HR_API NodePtr bipartite_color_table(const Graph& graph);

}  // namespace hr
