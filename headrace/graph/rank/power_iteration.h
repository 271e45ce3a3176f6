// SPDX-License-Identifier: Apache-2.0
// Ranks by powers of the adjacency matrix: eigenvector and Katz centrality, hubs and authorities.
#pragma once
#include "headrace/graph/structure/graph.h"

#include <array>
#include <optional>

namespace hr {

struct PowerOptions {
  int64_t max_iter = 100;
  double tolerance = 1e-6;
  bool strict = true;  ///< else the last step is good enough, with advice
};

struct KatzOptions {
  double alpha = 0.1;
  double beta = 1;  ///< of every vertex, unless a column says otherwise
  bool normalized = true;
};

/// All: float64 of each vertex. `start`, `beta`: float64 of each vertex. `weights`: float64 of each
/// edge. Each row sums in 4 lanes, and sums over vertices go piece by piece, so the bits do not
/// depend on threads. 16 bytes a vertex, 8 an entry more with weights. Throws ConvergenceError
/// after `max_iter` steps that change more than the tolerance for each vertex.
///
/// The leading eigenvector of the entries in, of length 1, by adding what is pulled to what is
/// there; even in sum at first.
HR_API Column eigenvector_centrality(const Graph& graph, const PowerOptions& options,
                                     const std::optional<Column>& start,
                                     const std::optional<Column>& weights);

/// alpha times the sum of those of edges in, and beta (L. Katz, 1953); from 0.
HR_API Column katz_centrality(const Graph& graph, const PowerOptions& options,
                              const KatzOptions& katz, const std::optional<Column>& beta,
                              const std::optional<Column>& start,
                              const std::optional<Column>& weights);

/// Hubs, which lead to authorities, and authorities (J. Kleinberg, 1999): the leading singular
/// vectors. Scaled to sums of 1, or authorities to a length of 1 and hubs what follows from them.
HR_API std::array<Column, 2> hits(const Graph& graph, const PowerOptions& options, bool normalized,
                                  const std::optional<Column>& start,
                                  const std::optional<Column>& weights);

/// The same, later, named as the functions are, and `hubs` and `authorities`; null nodes are none.
HR_API NodePtr eigenvector_centrality_table(const Graph& graph, const PowerOptions& options,
                                            const NodePtr& start, const NodePtr& weights);
HR_API NodePtr katz_centrality_table(const Graph& graph, const PowerOptions& options,
                                     const KatzOptions& katz, const NodePtr& beta,
                                     const NodePtr& start, const NodePtr& weights);
HR_API NodePtr hits_table(const Graph& graph, const PowerOptions& options, bool normalized,
                          const NodePtr& start, const NodePtr& weights);

}  // namespace hr
