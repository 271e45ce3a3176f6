// SPDX-License-Identifier: Apache-2.0
// How alike the neighbours of two vertices are.
#pragma once
#include "headrace/graph/structure/graph.h"

#include <optional>
#include <span>
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

/// Vertices and those that are most like each, int64 and float64 [rows].
struct SimilarVertices {
  Column first;
  Column second;
  Column share;
};

/// For each vertex of `starts` the `most` others with which it shares the most, of those that have
/// a neighbour in common with it: by falling share, then by number. What `similarity` gives for
/// these pairs, without the others: paths of two edges are added up in a table of the vertices, 16
/// bytes each and thread.
HR_API SimilarVertices most_similar(const Graph& graph, Similarity kind,
                                    std::span<const int64_t> starts, int64_t most,
                                    const std::optional<Column>& weights);

/// The same as the first, later, as `first`, `second` (the ids) and the word; `weights` may be
/// null.
HR_API NodePtr similarity_table(const Graph& graph, Similarity kind, const NodePtr& first,
                                const NodePtr& second, const NodePtr& weights);

}  // namespace hr
