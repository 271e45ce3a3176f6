// SPDX-License-Identifier: Apache-2.0
// Binary search in a range of places.
#pragma once
#include "headrace/base/api.h"

namespace hr {

/// The first place of [low, high) for which `is_before(place)` is false, or `high`. Those for which
/// it is true come first.
template <class Place, class IsBefore>
HR_BOTH Place partition_point(Place low, Place high, const IsBefore& is_before) {
  while (low < high) {
    const Place middle = low + (high - low) / 2;
    if (is_before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace hr
