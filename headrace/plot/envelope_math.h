// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum of a run of numbers, in any order with the same result.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace hr {

/// Lowest and highest of what was included; `low > high` says that nothing was.
template <class T>
struct Range {
  static constexpr T kTop = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                        : std::numeric_limits<T>::max();
  static constexpr T kBottom = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();
  T low = kTop;
  T high = kBottom;

  /// NaN compares false and so changes nothing.
  HR_BOTH void include(T value) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }

  HR_BOTH void include(const Range& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
  }

  HR_BOTH bool empty() const { return low > high; }
};

/// What an envelope stores: NaN for an empty range, and 0.0 for either zero, since which of the two
/// a minimum meets first depends on the order.
template <class T>
HR_BOTH T envelope_value(const Range<T>& range, T end) {
  if constexpr (std::is_floating_point_v<T>)
    return range.empty() ? std::numeric_limits<T>::quiet_NaN() : end + T{0};
  return end;
}

/// The range of `count` values that lie `stride` elements apart.
template <class T>
Range<T> range_of(const T* x, int64_t stride, int64_t count) {
  constexpr int kLanes = 32;
  Range<T> range;
  int64_t i = 0;
  if (stride == 1 && count >= 2 * kLanes) {
    T low[kLanes];
    T high[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) low[lane] = Range<T>::kTop;
    for (int lane = 0; lane < kLanes; ++lane) high[lane] = Range<T>::kBottom;
    for (; i + kLanes <= count; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const T value = x[i + lane];
        low[lane] = value < low[lane] ? value : low[lane];
        high[lane] = value > high[lane] ? value : high[lane];
      }
    }
    for (int lane = 0; lane < kLanes; ++lane) range.include(Range<T>{low[lane], high[lane]});
  }
  for (; i < count; ++i) range.include(x[i * stride]);
  return range;
}

}  // namespace hr
