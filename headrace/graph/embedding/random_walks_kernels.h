// SPDX-License-Identifier: Apache-2.0
// Kernels of random_walks for CUDA.
#pragma once
#include "headrace/graph/embedding/random_walks.h"

namespace hr::cuda {

/// As hr::random_walks, of checked options: the same walks.
Tensor random_walks(const Graph& graph, const Column& starts, const WalkOptions& options,
                    const std::optional<Column>& weights);

}  // namespace hr::cuda
