// SPDX-License-Identifier: Apache-2.0
// The matching of greatest weight.
#pragma once
#include "headrace/graph/structure/graph.h"

#include <optional>

namespace hr {

/// The numbers of the edges of a matching of the greatest weight, int64, ascending; with
/// `max_cardinality` of those with the most edges. `weights`: float64 of each edge, rounded to
/// multiples of 2^-58 of the greatest; none: 1 each. Paths that augment, blossoms shrunk, duals
/// adjusted (J. Edmonds, J. Res. NBS 69B, 1965; Z. Galil, ACM Computing Surveys 18, 1986): at most
/// the cube of the vertices, on one thread. 100 bytes a vertex and 24 an edge. Self loops are left
/// out. Throws InvalidArgumentError for a directed graph and weights that are not finite.
HR_API Column max_weight_matching(const Graph& graph, const std::optional<Column>& weights,
                                  bool max_cardinality);

}  // namespace hr
