// SPDX-License-Identifier: Apache-2.0
// Kernels of similarity for CUDA.
#pragma once
#include "headrace/graph/density/similarity.h"

namespace hr::cuda {

/// As hr::similarity of a checked graph; with weights, sums have other orders.
Column similarity(const Graph& graph, Similarity kind, const Column& first, const Column& second,
                  const std::optional<Column>& weights);

}  // namespace hr::cuda
