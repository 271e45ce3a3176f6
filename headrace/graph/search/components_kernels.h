// SPDX-License-Identifier: Apache-2.0
// Kernels of components for CUDA.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr::cuda {

/// As hr::connected_components.
Column connected_components(const Graph& graph);

}  // namespace hr::cuda
