// SPDX-License-Identifier: Apache-2.0
// The decision of non_max_suppression for one element, and its threshold.
#pragma once
#include "headrace/base/api.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

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

/// The least T that is at least `threshold`; false when there is none.
template <class T>
inline bool round_threshold(double threshold, T& rounded) {
  if constexpr (std::is_integral_v<T>) {
    const double least = std::ceil(threshold);
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (least >= beyond) return false;
    const bool below = least <= static_cast<double>(std::numeric_limits<T>::lowest());
    rounded = below ? std::numeric_limits<T>::lowest() : static_cast<T>(least);
  } else {
    rounded = static_cast<T>(threshold);
    if (static_cast<double>(rounded) < threshold)
      rounded = std::nextafter(rounded, std::numeric_limits<T>::infinity());
  }
  return true;
}

}  // namespace hr
