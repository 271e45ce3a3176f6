// SPDX-License-Identifier: Apache-2.0
// The decision of non_max_suppression for one element.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Whether x[i] is greater than all of the `half` values before it and not less than the `half`
/// after it. Looks outwards on both sides in turn.
template <class View>
HR_BOTH inline bool is_window_peak(const View& x, int64_t i, int64_t half) {
  const auto value = x[i];
  const int64_t before = half < i ? half : i;
  const int64_t after = half < x.size - 1 - i ? half : x.size - 1 - i;
  for (int64_t distance = 1; distance <= before || distance <= after; ++distance) {
    if (distance <= before && x[i - distance] >= value) return false;
    if (distance <= after && x[i + distance] > value) return false;
  }
  return true;
}

}  // namespace hr
