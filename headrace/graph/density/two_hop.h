// SPDX-License-Identifier: Apache-2.0
// Vertices that a path of two edges connects.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// A lazy table of `first` and `second` (ids), `common`, how many vertices are between them, and
/// the vertices' numbers as `first_row` and `second_row`, all int64 but the ids: of each vertex in
/// `starts` in turn, those that a path of two edges leads to and that are others, ascending.
/// Without `starts` of all vertices, and where edges have no direction each pair once, the lesser
/// vertex first. Several edges between two vertices count once. Pairs are counted at once, which
/// takes about 3 ns a path and core, and made again when they are needed; 8 bytes a vertex and
/// thread.
HR_API NodePtr two_hop_table(const Graph& graph, const std::optional<std::vector<int64_t>>& starts);

}  // namespace hr
