// SPDX-License-Identifier: Apache-2.0
// Strongly connected components of a directed graph.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The number of each vertex's component, int64: 0, 1, ... in the order of their first vertices.
/// Vertices that no cycle leads to, or from, are taken away first; the component of one hub is what
/// searches forth and back both reach (L. Fleischer, B. Hendrickson, A. Pinar, 2000); the rest, on
/// one thread, by R. Tarjan's search (1972). 17 bytes a vertex.
HR_API Column strong_components(const Graph& graph);

/// The same, later, as `component`.
HR_API NodePtr strong_component_table(const Graph& graph);

}  // namespace hr
