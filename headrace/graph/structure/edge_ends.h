// SPDX-License-Identifier: Apache-2.0
// The ends of edges, by the number of the edge.
#pragma once
#include "headrace/graph/structure/graph.h"
#include "headrace/memory/adaptors/allocator.h"

#include <array>
#include <span>

namespace hr {

using EdgeEnds = BudgetedVector<std::array<uint32_t, 2>>;

/// The two vertices of each edge, as entries count them; of an undirected one the lesser first.
/// Throws InternalError where edges are not kept.
HR_API EdgeEnds edge_ends(std::string_view op, const Graph& graph);

/// The numbers of the edges that `is_wanted` has a 1 for, int64, ascending.
HR_API Column wanted_edges(std::span<const uint8_t> is_wanted);

}  // namespace hr
