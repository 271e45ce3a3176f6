// SPDX-License-Identifier: Apache-2.0
// Layouts: places of vertices where edges pull and vertices push.
#pragma once
#include "headrace/graph/graph.h"

#include <optional>
#include <vector>

namespace hr {

/// How edges pull over a distance d: by d, log(1 + d) or d^2. Vertices push by 1 / d in all.
enum class LayoutPull : uint8_t { kLinear, kLogarithmic, kSquare };

struct LayoutOptions {
  LayoutPull pull = LayoutPull::kLinear;
  /// Vertices push by their degree + 1, else by 1.
  bool by_degree = true;
  int64_t dimensions = 2;  ///< or 3
  int64_t iterations = 100;
  double scaling_ratio = 2;     ///< of how vertices push
  double gravity = 1;           ///< towards the middle, also by the weight of the vertex
  bool strong_gravity = false;  ///< grows with the distance
  double scale = 1;             ///< the largest coordinate at the end; 0: as it comes
  uint64_t seed = 0;
};

/// Places of vertices, a float32 column a dimension, by the forces and speeds of ForceAtlas2 (M.
/// Jacomy and others, PLoS ONE 9, 2014), or with kSquare those of T. Fruchterman and E. Reingold
/// (Software 21, 1991). Communities of communities are placed first, and their members around them
/// (as Y. Hu, Mathematica Journal 10, 2005, with Louvain's communities); with `start`, a float32
/// column a dimension, vertices move from there alone. Far vertices push together (PointTree);
/// directions mean nothing. Each sum has an order by shape: the same bits for any number of threads
/// and SIMD level. About 130 bytes a vertex and 40 an edge's end. Throws InvalidArgumentError for
/// weights that are negative or not finite, and for places that are not.
HR_API std::vector<Column> layout(const Graph& graph, const std::optional<Column>& weights = {},
                                  const std::vector<Column>& start = {},
                                  const LayoutOptions& options = {});

/// The same, later, as `x`, `y` and `z`; `weights` may be null.
HR_API NodePtr layout_table(const Graph& graph, const NodePtr& weights,
                            const std::vector<NodePtr>& start, const LayoutOptions& options);

}  // namespace hr
