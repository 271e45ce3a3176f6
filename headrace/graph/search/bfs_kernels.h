// SPDX-License-Identifier: Apache-2.0
// Kernels of bfs for CUDA.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr::cuda {

/// As hr::bfs_levels, on the device.
Buffer bfs_levels(const Graph& graph, int64_t source, int64_t most);

/// As hr::bfs_predecessors.
Buffer bfs_predecessors(const Graph& graph, const Buffer& levels);

/// Levels as int64, null where there is none.
Column distance_column(const Buffer& levels, int64_t rows);

}  // namespace hr::cuda
