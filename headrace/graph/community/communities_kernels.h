// SPDX-License-Identifier: Apache-2.0
// Kernels of communities for CUDA: levels on a device.
#pragma once
#include "headrace/graph/community/communities.h"

namespace hr::cuda {

/// As hr::louvain and hr::leiden, on the device; levels of few vertices are the host's.
Column louvain(const Graph& graph, const std::optional<Column>& weights,
               const LouvainOptions& options);
Column leiden(const Graph& graph, const std::optional<Column>& weights,
              const LeidenOptions& options);

}  // namespace hr::cuda
