// SPDX-License-Identifier: Apache-2.0
// Breadth-first search.
#pragma once
#include "headrace/graph/graph.h"

#include <limits>

namespace hr {

/// Not reached.
inline constexpr uint32_t kNoLevel = std::numeric_limits<uint32_t>::max();

/// How many edges away from vertex `source` each vertex is, uint32; kNoLevel where there is no path
/// or none of at most `most` edges. Direction-optimising (S. Beamer, K. Asanovic, D. Patterson, SC
/// 2012) where entries are symmetric. 4 bytes a vertex and three bits.
HR_API Buffer bfs_levels(const Graph& graph, int64_t source, int64_t most);

/// The vertex before each one on a shortest path, int64: of several the first, -1 for the source
/// and where there is no path. `levels` as `bfs_levels` made them.
HR_API Buffer bfs_predecessors(const Graph& graph, const Buffer& levels);

/// Both, later, as `distance` and `predecessor` (for ids of several keys `predecessor_0`, ...),
/// null where there is none. Several sources: 64 at a time share each pass (M. Then and others,
/// VLDB 2014); the rows are those of all vertices for each source in turn, with columns `start` and
/// `vertex`, named as the predecessors are, before the others. `most` < 0: no limit.
HR_API NodePtr bfs_table(const Graph& graph, int64_t source, int64_t most = -1);
HR_API NodePtr many_bfs_table(const Graph& graph, std::vector<int64_t> sources, int64_t most);

}  // namespace hr
