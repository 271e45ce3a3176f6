// SPDX-License-Identifier: Apache-2.0
// Kernels of shortest_paths for CUDA.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr::cuda {

struct PathLengths {
  Buffer of_entries;  ///< weights
  Buffer lengths;     ///< float64 [vertices], infinite where there is no path
};

/// As hr::shortest_path_lengths: the same bits.
PathLengths shortest_path_lengths(const Graph& graph, const Column& weights, int64_t source,
                                  double cutoff);

/// Lengths as a column, null where there is none; and the vertex before each one, int64, as on the
/// host.
Column length_column(const Buffer& lengths, int64_t vertices);
Buffer path_predecessors(const Graph& graph, const PathLengths& found, int64_t source,
                         const Column& weights);

}  // namespace hr::cuda
