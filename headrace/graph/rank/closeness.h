// SPDX-License-Identifier: Apache-2.0
// Closeness: how near a vertex is to those that have a path to it.
#pragma once
#include "headrace/graph/structure/graph.h"

#include <optional>
#include <span>

namespace hr {

enum class ClosenessKind : uint8_t {
  kPlain,      ///< vertices with a path over the sum of their distances
  kImproved,   ///< this times their share of all others (S. Wasserman, K. Faust, 1994)
  kReciprocal  ///< the sum of 1 over their distances: harmonic centrality
};

/// float64 of each of the vertices `asked`. `weights`: float64 of each edge, not negative; without
/// them an edge counts 1, and 64 searches share each pass over entries. Sums over distances go from
/// the nearest to the farthest, so the bits do not depend on threads. 24 bytes a vertex for each 64
/// at once, two a thread; with weights for each one.
HR_API Column closeness(const Graph& graph, ClosenessKind kind, std::span<const int64_t> asked,
                        const std::optional<Column>& weights);

/// The sum of 1 over the distances from each of `sources` to each vertex, float64. 4 bytes a vertex
/// for each of 64 sources at once; with weights 8 for two a thread.
HR_API Column reciprocal_distances(const Graph& graph, std::span<const int64_t> sources,
                                   const std::optional<Column>& weights);

/// The first, later, as `closeness_centrality` or `harmonic_centrality`, in row set `domain`; a
/// null node is no weights. And the second, as `harmonic_centrality` in the rows of vertices.
HR_API NodePtr closeness_table(const Graph& graph, ClosenessKind kind, std::vector<int64_t> asked,
                               const NodePtr& weights, uint64_t domain);
HR_API NodePtr reciprocal_distance_table(const Graph& graph, std::vector<int64_t> sources,
                                         const NodePtr& weights);

}  // namespace hr
