// SPDX-License-Identifier: Apache-2.0
// Kernels of neighbor_sample for CUDA.
#pragma once
#include "headrace/graph/embedding/neighbor_sample.h"

namespace hr::cuda {

/// As hr::neighbor_sample, of checked options: the same vertices and edges, there. 4 bytes a vertex
/// of the graph.
NeighborSample neighbor_sample(const Graph& graph, const Column& seeds,
                               const SampleOptions& options);

}  // namespace hr::cuda
