// SPDX-License-Identifier: Apache-2.0
// What neighbours have in common, as a share.
#pragma once
#include "headrace/graph/density/similarity.h"

#include <cmath>

namespace hr {

/// 0 where a divisor is 0.
HR_BOTH inline double similarity_share(Similarity kind, double common, double a, double b) {
  const double divisor = kind == Similarity::kJaccard    ? a + b - common
                         : kind == Similarity::kOverlap  ? (b < a ? b : a)
                         : kind == Similarity::kSorensen ? (a + b) / 2
                                                         : sqrt(a * b);
  return divisor == 0 ? 0 : common / divisor;
}

}  // namespace hr
