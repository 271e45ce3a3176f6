// SPDX-License-Identifier: Apache-2.0
// Kernels of many_bfs for CUDA.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/graph/structure/graph.h"

#include <span>

namespace hr::cuda {

/// As hr::many_bfs_levels, on the device.
Buffer many_bfs_levels(const Graph& graph, std::span<const int64_t> sources, int64_t most);

/// As hr::bfs_predecessors of each source, one after the other: int64 [sources * vertices].
Buffer many_bfs_predecessors(const Graph& graph, const Buffer& levels, int64_t sources);

/// The numbers of the start and the vertex of each row, int64 [sources * vertices].
Tensor row_starts(const Graph& graph, std::span<const int64_t> sources);
Tensor row_vertices(const Graph& graph, int64_t sources);

}  // namespace hr::cuda
