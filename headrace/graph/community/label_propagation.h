// SPDX-License-Identifier: Apache-2.0
// Communities by labels that spread.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The community of each vertex of an undirected graph, int64, numbered 0, 1, ... by their first
/// vertex: each takes the label that most of its neighbours' weight has, until each has such a one
/// (U. N. Raghavan, R. Albert, S. Kumara, Phys. Rev. E 76, 2007); of several one by a draw, unless
/// its own is among them. Vertices of a sixteenth decide on the same labels, as in `louvain`;
/// where that does not end, one after the other, which does. `weights`: float64 of edges. About 24
/// bytes an entry and 16 a vertex. Throws InvalidArgumentError for a directed graph and negative
/// weights.
HR_API Column label_propagation(const Graph& graph, const std::optional<Column>& weights,
                                uint64_t seed);

/// The same, later, as `community`; `weights` may be null.
HR_API NodePtr label_propagation_table(const Graph& graph, const NodePtr& weights, uint64_t seed);

}  // namespace hr
