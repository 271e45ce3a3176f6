// SPDX-License-Identifier: Apache-2.0
// Minimum spanning trees, one of each component.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The numbers of the edges of the spanning forest with the least sum of `weights`, float64 of
/// edges (null: any is as good), or with `maximum` the greatest; int64, ascending. Of edges that
/// weigh the same the first are taken, as Kruskal's algorithm does, so that there is one answer.
/// Each component takes its lightest edge, all at once, until none is left (O. Borůvka, 1926). 21
/// bytes an edge and 16 a vertex. Throws InvalidArgumentError for a directed graph and weights that
/// are not finite.
HR_API Column spanning_forest(const Graph& graph, const std::optional<Column>& weights,
                              bool maximum);

}  // namespace hr
