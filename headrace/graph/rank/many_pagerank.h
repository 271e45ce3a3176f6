// SPDX-License-Identifier: Apache-2.0
// PageRank from several places at once.
#pragma once
#include "headrace/graph/rank/pagerank.h"

namespace hr {

/// As `pagerank` with each of several personalizations, one after the other: float64 [starts *
/// vertices], as `shares`, each of which is scaled to a sum of 1 and says as well where the surfer
/// goes from vertices without edges out. 8 of them share each pass over entries; each stops by
/// itself, so it does not depend on the others. 260 bytes a vertex.
HR_API Column many_pagerank(const Graph& graph, const PageRankOptions& options,
                            const Column& shares, const std::optional<Column>& weights);

/// The same, later, as `pagerank`, behind columns `start`, the vertices with numbers `starts`, and
/// `vertex` (named as those of `many_bfs_table`).
HR_API NodePtr many_pagerank_table(const Graph& graph, const PageRankOptions& options,
                                   std::vector<int64_t> starts, const NodePtr& shares,
                                   const NodePtr& weights);

}  // namespace hr
