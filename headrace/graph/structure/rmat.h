// SPDX-License-Identifier: Apache-2.0
// R-MAT: random graphs with hubs.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>

namespace hr {

struct RmatOptions {
  int64_t scale = 20;  ///< 2^scale vertices, at most 32
  int64_t edges = 0;
  double a = 0.57, b = 0.19, c = 0.19;  ///< of the quarters of the matrix; the rest is the last's
  uint64_t seed = 0;
};

/// A lazy table of `source` and `target`, uint32: each edge falls into one quarter of the matrix
/// after the other (D. Chakrabarti, Y. Zhan, C. Faloutsos, SDM 2004); the vertices are then
/// permuted. An edge is a function of its number and the seed (Philox). Throws InvalidArgumentError
/// for shares that are none.
HR_API NodePtr rmat(const RmatOptions& options);

}  // namespace hr
