// SPDX-License-Identifier: Apache-2.0
// Kernels of power_iteration for CUDA.
#pragma once
#include "headrace/graph/rank/power_iteration.h"

namespace hr::cuda {

/// As hr::eigenvector_centrality, hr::katz_centrality and hr::hits, on the device: sums have other
/// orders, which the graph fixes too, so that steps differ by rounding.
Column eigenvector_centrality(const Graph& graph, const PowerOptions& options,
                              const std::optional<Column>& start,
                              const std::optional<Column>& weights);
Column katz_centrality(const Graph& graph, const PowerOptions& options, const KatzOptions& katz,
                       const std::optional<Column>& beta, const std::optional<Column>& start,
                       const std::optional<Column>& weights);
std::array<Column, 2> hits(const Graph& graph, const PowerOptions& options, bool normalized,
                           const std::optional<Column>& start,
                           const std::optional<Column>& weights);

}  // namespace hr::cuda
