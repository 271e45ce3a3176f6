// SPDX-License-Identifier: Apache-2.0
// Triangles, and how many of those that there could be.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The triangles that each vertex is in, int64; self loops and further edges between two vertices
/// make none. Edges go to the vertex of larger degree, and the neighbours of a neighbour are looked
/// up in a bitmap (J. Shun, K. Tangwongsan, "Multicore triangle computations without tuning", ICDE
/// 2015). 4 bytes an edge and 16 a vertex. Throws InvalidArgumentError for a directed graph.
HR_API Column triangle_count(const Graph& graph);

/// Later: `count`, and the number of other vertices that each is connected to as `neighbors`.
HR_API NodePtr triangle_table(const Graph& graph);

}  // namespace hr
