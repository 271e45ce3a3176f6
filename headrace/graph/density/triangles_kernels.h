// SPDX-License-Identifier: Apache-2.0
// Kernels of triangles for CUDA.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr::cuda {

/// As hr::triangle_count, of a graph that is neither directed nor a multigraph; and how many
/// neighbours vertices have apart from themselves.
Column triangle_count(const Graph& graph);
Column neighbor_counts(const Graph& graph);

}  // namespace hr::cuda
