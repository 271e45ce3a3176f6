// SPDX-License-Identifier: Apache-2.0
// Shortest paths by weights.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// The least sum of weights from vertex `source` to each vertex, float64, infinity where there is
/// no path or none up to `cutoff`. `weights`: float64 for each edge, not negative, as `pagerank`
/// takes them. Delta-stepping (U. Meyer, P. Sanders, 2003) with fused buckets (Y. Zhang and others,
/// CGO 2020); on a GPU all that are nearer than a border at once, then the border moves on (A.
/// Davidson, S. Baxter, M. Garland, J. Owens, IPDPS 2014). Sums are rounded along each path, so the
/// bits depend on nothing else. 8 bytes a vertex, 8 an entry and 4 a vertex that waits.
HR_API Buffer shortest_path_lengths(const Graph& graph, const Column& weights, int64_t source,
                                    double cutoff);

/// The same, later, as `distance`, and `predecessor` (named as those of `bfs_table`): the vertex
/// before on a shortest path, of several the first that is nearer to the source, else the first by
/// the fewest edges of weight 0. Null where there is no path.
HR_API NodePtr shortest_path_table(const Graph& graph, const NodePtr& weights, int64_t source,
                                   double cutoff);

}  // namespace hr
