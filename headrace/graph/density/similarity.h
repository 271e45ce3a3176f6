// SPDX-License-Identifier: Apache-2.0
// How alike the neighbours of two vertices are.
#pragma once
#include "headrace/graph/structure/graph.h"

#include <string_view>

namespace hr {

/// What the common neighbours c are divided by, of vertices with a and b neighbours: a + b - c, the
/// lesser one, (a + b) / 2, sqrt(a b).
enum class Similarity : uint8_t { kJaccard, kOverlap, kSorensen, kCosine };

std::string_view word_of(Similarity kind);

/// Of the vertices first[i] and second[i], float64 [pairs], 0 where a divisor is 0. With `weights`,
/// float64 of edges, c is the sum of the lesser weights, a and b those of all; the cosine is that
/// of the weights. Rows are merged, or a short one is searched for in a long one; 16 bytes a vertex
/// with weights. Throws InvalidArgumentError for a directed graph, a multigraph, and negative
/// weights.
HR_API Column similarity(const Graph& graph, Similarity kind, const Column& first,
                         const Column& second, const std::optional<Column>& weights);

/// The same, later, as `first`, `second` (the ids) and the word; `weights` may be null.
HR_API NodePtr similarity_table(const Graph& graph, Similarity kind, const NodePtr& first,
                                const NodePtr& second, const NodePtr& weights);

}  // namespace hr
