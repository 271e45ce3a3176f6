// SPDX-License-Identifier: Apache-2.0
// Connected components.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The weakly connected component of each vertex, int64, numbered 0, 1, ... by their first vertex.
/// Afforest (M. Sutton, T. Ben-Nun, A. Barak, IPDPS 2018): two neighbours of each vertex join most
/// of the largest component, whose other entries are then not read. 4 bytes a vertex.
HR_API Column connected_components(const Graph& graph);

/// The same, later, as `component`.
HR_API NodePtr component_table(const Graph& graph);

}  // namespace hr
