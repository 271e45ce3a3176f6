// SPDX-License-Identifier: Apache-2.0
// Kernels of betweenness for CUDA.
#pragma once
#include "headrace/graph/rank/betweenness.h"

namespace hr {

/// What sums are multiplied by, of other vertices and of sources.
struct BetweennessScale {
  double of_others;
  double of_sources;
};

namespace cuda {

/// As hr::betweenness without weights, of a graph without repeats: sums along a row are shared by
/// threads, in an order that the graph fixes, so that results differ from the host's by rounding
/// alone.
Column betweenness(const Graph& graph, const BetweennessOptions& options, BetweennessScale scale);

}  // namespace cuda
}  // namespace hr
