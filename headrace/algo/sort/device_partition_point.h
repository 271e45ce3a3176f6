// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: binary search on a device.
#pragma once

namespace hr::cuda {

/// The first place of [low, high) for which `is_before(place)` is false, or `high`. Those for which
/// it is true come first.
template <class Place, class IsBefore>
__device__ Place partition_point(Place low, Place high, const IsBefore& is_before) {
  while (low < high) {
    const Place middle = low + (high - low) / 2;
    if (is_before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace hr::cuda
