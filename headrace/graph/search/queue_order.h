// SPDX-License-Identifier: Apache-2.0
// Searches in the order of a queue: where results show in which order vertices are met.
#pragma once
#include "headrace/data/column.h"
#include "headrace/graph/structure/graph.h"

#include <limits>
#include <span>
#include <vector>

namespace hr {

/// Vertices as a search meets them; of rows whose targets are in any order, which it keeps.
struct SearchOrder {
  int64_t count = 0;
  Buffer vertices{};              ///< uint32 [count]
  Buffer before{};                ///< uint32 [count]: the vertex that met each; of sources itself
  std::vector<int64_t> levels{};  ///< where each level begins, and the end; of `queue_bfs`
  Buffer distances{};             ///< float64 [count]; of `queue_dijkstra`
  std::vector<uint32_t> met{};    ///< vertices as they were first seen, with `all_before`
  std::vector<int64_t> met_begins{};  ///< where those before each of `met` begin, and the end
  std::vector<uint32_t> met_before{};
};

/// Breadth first: a level after the other, each vertex by the first of the level before that has
/// it, in the order of rows; the vertices at most `most` edges away (< 0: all). One thread: a
/// vertex after the other is what the order means. 9 bytes a vertex.
HR_API SearchOrder queue_bfs(const Csr& rows, std::span<const int64_t> sources, int64_t most,
                             bool all_before = false);

struct DijkstraOptions {
  int64_t target = -1;  ///< ends there
  double cutoff = std::numeric_limits<double>::infinity();
  bool all_before = false;  ///< all that are before a vertex on shortest paths
};

/// Nearest first, of equally near ones the one that was met first (E. W. Dijkstra, 1959, with a
/// binary heap). `weights`: float64 an entry, of which none is negative, or paths may contradict:
/// InvalidArgumentError. 33 bytes a vertex.
HR_API SearchOrder queue_dijkstra(const Csr& rows, const Buffer& weights,
                                  std::span<const int64_t> sources, const DijkstraOptions& options);

/// By a queue of vertices whose distance has changed (R. Bellman, 1958; L. R. Ford), which waits
/// for those before them: `vertices` as they were first seen, with all before each. Weights may be
/// negative; throws InvalidArgumentError for a cycle of negative weight, which `early` may see
/// earlier, by the edges that changed distances last. 45 bytes a vertex.
HR_API SearchOrder queue_bellman_ford(const Csr& rows, const Buffer& weights,
                                      std::span<const int64_t> sources, bool early);

/// A path of the fewest edges, by a level of the smaller side at a time; `backward` has the rows
/// the other way round. Empty where there is none.
HR_API std::vector<uint32_t> path_between(const Csr& rows, const Csr& backward, int64_t source,
                                          int64_t target);

struct WeighedPath {
  std::vector<uint32_t> vertices{};
  double length = 0;
};

/// The shortest path by weights of entries, none negative, by a vertex of either side in turn.
HR_API WeighedPath weighed_path_between(const Csr& rows, const Buffer& weights, const Csr& backward,
                                        const Buffer& backward_weights, int64_t source,
                                        int64_t target);

/// The weight of each entry of `rows`, the neighbours of the vertices of `graph` in any order, each
/// once; of several edges to one the least. `weights`: float64 of each edge.
HR_API Buffer ordered_weights(const Graph& graph, const Csr& rows, const Column& weights);

}  // namespace hr
