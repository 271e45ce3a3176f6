// SPDX-License-Identifier: Apache-2.0
// Powers of ten in 128 bits, for numbers as text.
#pragma once
#include "headrace/base/api.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace hr {

inline constexpr int kLeastPowerOfTen = -292, kMostPowerOfTen = 324;

/// 10^k over 2^(floor(log2(10^k)) - 127), rounded up: the highest bit is set.
struct WidePowerOfTen {
  uint64_t high;
  uint64_t low;
};

/// From kLeastPowerOfTen on.
HR_API extern const std::array<WidePowerOfTen, kMostPowerOfTen - kLeastPowerOfTen + 1>
    kWidePowersOfTen;

inline const WidePowerOfTen& wide_power_of_ten(int k) {
  return kWidePowersOfTen[static_cast<size_t>(k - kLeastPowerOfTen)];
}

/// floor(log2(10^k)) for |k| up to 1233.
constexpr int floor_log2_of_ten(int k) {
  return (k * 1741647) >> 19;
}

}  // namespace hr
