// SPDX-License-Identifier: Apache-2.0
// Communities: groups of vertices with more weight between them than chance would give.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

struct LouvainOptions {
  double resolution = 1;
  double threshold = 1e-7;  ///< a level that gains less modularity is the last one
  int64_t max_level = -1;   ///< -1: any number
  uint64_t seed = 0;
};

struct LeidenOptions {
  double resolution = 1;
  int64_t n_iterations = 2;
  uint64_t seed = 0;
};

/// The community of each vertex of an undirected graph, int64, numbered 0, 1, ... by their first
/// vertex (V. D. Blondel and others, J. Stat. Mech. 2008); vertices move once more on the way down
/// the levels. They move in sub-rounds on one snapshot, as in deterministic parallel Louvain
/// (L. Gottesbüren, M. Hamann, Euro-Par 2022), on whole weights: the same for any number of
/// threads. Up to 1,024 vertices move one by one, in eight orders, of which the best is kept. About
/// 32 bytes an entry and 40 a vertex. `weights`: float64 of edges. Throws InvalidArgumentError for
/// a directed graph and negative weights.
HR_API Column louvain(const Graph& graph, const std::optional<Column>& weights = {},
                      const LouvainOptions& options = {});

struct EnsembleOptions {
  double min_weight = 1e-4;  ///< of an edge whose ends no partition has together
  int64_t ensemble_size = 100;
  LouvainOptions louvain{};
};

/// Louvain on how often both ends of an edge are together in many one-level partitions by Louvain,
/// each from another draw (V. Poulin, F. Théberge, Applied Network Science 3, 2018).
HR_API Column ensemble_clustering(const Graph& graph, const std::optional<Column>& weights,
                                  const EnsembleOptions& options);

/// The same by Leiden (V. A. Traag, L. Waltman, N. J. van Eck, Scientific Reports 9, 2019):
/// communities are connected.
HR_API Column leiden(const Graph& graph, const std::optional<Column>& weights = {},
                     const LeidenOptions& options = {});

/// The modularity of `labels`, int64 of each vertex (M. E. J. Newman, M. Girvan, Phys. Rev. E 69,
/// 2004); NaN without weight.
HR_API double modularity(const Graph& graph, const Column& labels,
                         const std::optional<Column>& weights = {}, double resolution = 1);

/// These, later, as `community`; `weights` may be null.
HR_API NodePtr louvain_table(const Graph& graph, const NodePtr& weights,
                             const LouvainOptions& options);
HR_API NodePtr ensemble_clustering_table(const Graph& graph, const NodePtr& weights,
                                         const EnsembleOptions& options);
HR_API NodePtr leiden_table(const Graph& graph, const NodePtr& weights,
                            const LeidenOptions& options);

}  // namespace hr
