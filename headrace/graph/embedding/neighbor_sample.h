// SPDX-License-Identifier: Apache-2.0
// Neighbours of neighbours by chance: the part of a graph for a batch of training.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/graph/structure/graph.h"

namespace hr {

struct SampleOptions {
  std::vector<int64_t> fanout{};  ///< neighbours of a vertex, hop by hop; -1: all
  bool replace = false;           ///< a neighbour may come several times
  uint64_t seed = 0;
};

/// Vertices are numbered in the order in which they were found: `node` has their numbers in the
/// graph, the seeds first. Edges go from node[row[i]] to node[col[i]].
struct NeighborSample {
  Tensor row{}, col{};               ///< int64 [edges]
  Tensor node{};                     ///< int64 [vertices]
  std::optional<Tensor> edge{};      ///< int64 [edges]: numbers of edges, where these are kept
  std::vector<int64_t> num_nodes{};  ///< new ones of the seeds and each hop
  std::vector<int64_t> num_edges{};  ///< of each hop
};

/// Each vertex found in the hop before, the seeds (numbers, each once) at first, gets up to as many
/// of its neighbours as `fanout` says, all of those that have no more; of a directed graph those
/// with an edge to it. As PyTorch Geometric's sampler. A draw is a function of the seed, the hop,
/// the vertex and its number there; without replacement by Floyd's algorithm (J. Bentley, R. Floyd,
/// CACM 30, 1987). About 60 bytes an edge. Throws InvalidArgumentError for seeds that repeat.
HR_API NeighborSample neighbor_sample(const Graph& graph, const Column& seeds,
                                      const SampleOptions& options);

}  // namespace hr
