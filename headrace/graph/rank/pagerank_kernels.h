// SPDX-License-Identifier: Apache-2.0
// Kernels of PageRank: what rows pull; on a CUDA device all of it.
#pragma once
#include "headrace/graph/rank/pagerank.h"

#include <cstdint>

namespace hr::cpu {

/// Entries of rows, offsets[v] to offsets[v + 1] of `places`, of what they pull; `weights` may be
/// null. Values of places below `readable` are fetched ahead; 0: none are.
struct Pull {
  const int64_t* offsets;
  const uint32_t* places;
  const double* weights;
  const double* given;
  int64_t readable;
};

/// sums[v - first] of rows v in [first, last). Entries go to 8 sums in turn, added as
/// ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)): the same bits at any SIMD level.
void pull_rows(const Pull& pull, int64_t first, int64_t last, double* sums);

}  // namespace hr::cpu

namespace hr::cuda {

/// As hr::pagerank, whose ranks differ by rounding alone: sums have other orders, which the graph
/// fixes too.
Column pagerank(const Graph& graph, const PageRankOptions& options, const PageRankVectors& vectors,
                const std::optional<Column>& weights);

}  // namespace hr::cuda
