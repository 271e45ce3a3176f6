// SPDX-License-Identifier: Apache-2.0
// Random walks, with a bias to go back or on.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/graph/structure/graph.h"

namespace hr {

struct WalkOptions {
  int64_t length = 1;  ///< steps
  double p = 1;        ///< the more, the rarer the step back
  double q = 1;  ///< the more, the rarer the step to what no edge connects with the place before
  uint64_t seed = 0;
};

/// Walks from `starts` (numbers of vertices): the numbers of their vertices, int64 [walks, length +
/// 1], -1 behind the end of one that cannot go on. With p and q as in node2vec (A. Grover, J.
/// Leskovec, KDD 2016), by draws that are rejected (K. Yang and others, SOSP 2019). `weights`:
/// float64 of edges, what steps are in proportion to. A step is a function of the seed, the number
/// of its walk and of the step. Walks go side by side, so that memory answers several at once; 8
/// bytes an entry with weights. Throws InvalidArgumentError for options out of range and negative
/// weights.
HR_API Tensor random_walks(const Graph& graph, const Column& starts, const WalkOptions& options,
                           const std::optional<Column>& weights);

}  // namespace hr
