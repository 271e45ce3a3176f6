// SPDX-License-Identifier: Apache-2.0
// Many breadth-first searches at once.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/graph/structure/graph.h"

#include <span>

namespace hr {

/// As `bfs_levels` of each source, one after the other: uint32 [sources][vertices]. 64 searches
/// are the bits of one word a vertex and share each pass over entries (M. Then, M. Kaufmann and
/// others, VLDB 2014). 24 bytes a vertex.
HR_API Buffer many_bfs_levels(const Graph& graph, std::span<const int64_t> sources, int64_t most);

/// As `bfs_predecessors` of each, int64 [sources * vertices].
Buffer many_bfs_predecessors(const Graph& graph, const Buffer& levels, int64_t sources);

/// The numbers of the source and of the vertex of each of these rows, int64.
Tensor row_starts(const Graph& graph, std::span<const int64_t> sources);
Tensor row_vertices(const Graph& graph, int64_t sources);

}  // namespace hr
