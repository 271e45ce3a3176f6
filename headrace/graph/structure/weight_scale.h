// SPDX-License-Identifier: Apache-2.0
// What makes weights whole: a power of two that the weights alone fix, not the order of their sum.
#pragma once
#include "headrace/base/api.h"

#include <cmath>
#include <cstdint>

namespace hr {

/// Of weights whose greatest is below 2^(exponent + 1): a weight in parts of 2^(exponent - 28),
/// rounded up, of which 2^33 have a sum.
HR_BOTH inline int64_t weight_parts(double weight, int exponent) {
  return static_cast<int64_t>(ceil(ldexp(weight, 28 - exponent)));
}

/// A power of two that brings the sum of twice the weights to 2^61 at most; 1 if they are whole and
/// not too many.
inline double scale_of(int64_t parts, int exponent, bool is_whole) {
  const double most = std::ldexp(static_cast<double>(parts), exponent - 27);
  if (parts == 0 || (is_whole && most < 0x1p52)) return 1;
  return std::ldexp(1.0, 60 - std::ilogb(most));
}

}  // namespace hr
