// SPDX-License-Identifier: Apache-2.0
// How many edges vertices have.
#pragma once
#include "headrace/graph/graph.h"

namespace hr {

enum class DegreeKind : uint8_t { kAll, kIn, kOut };

/// Edges of each vertex, int64; kAll counts a self loop twice, in and out. Of an undirected graph
/// all three are the same. Those in need the
/// transpose.
HR_API Column degrees(const Graph& graph, DegreeKind kind = DegreeKind::kAll);

/// The same, later, as `degree`.
HR_API NodePtr degree_table(const Graph& graph, DegreeKind kind);

}  // namespace hr
