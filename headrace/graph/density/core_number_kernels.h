// SPDX-License-Identifier: Apache-2.0
// Kernels of core_number for CUDA.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr::cuda {

/// As hr::core_number, of a graph without self loops.
Column core_number(const Graph& graph);

}  // namespace hr::cuda
