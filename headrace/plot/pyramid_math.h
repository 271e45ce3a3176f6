// SPDX-License-Identifier: Apache-2.0
// Values to codes of 16 bits and codes to bytes.
#pragma once
#include "headrace/base/api.h"

#include <cmath>
#include <cstdint>

namespace hr {

inline constexpr double kLastCode = 65535;

/// The scale of a pyramid: code c stands for offset + step * c.
struct CodeScale {
  double offset = 0;
  double step = 1;

  HR_BOTH double value(double code) const { return offset + step * code; }

  HR_BOTH double position(double value) const {
    const double difference = value - offset;
    if (std::isfinite(difference)) return difference / step;
    return value > offset ? kLastCode : 1;  // infinities, and spans beyond the largest float
  }

  HR_BOTH static uint16_t clamp(double code) {
    return static_cast<uint16_t>(code < 1 ? 1 : code > kLastCode ? kLastCode : code);
  }

  HR_BOTH uint16_t nearest(double value_) const {
    return clamp(std::floor(position(value_) + 0.5));
  }

  /// The highest code that does not stand above `value_`, however the division was rounded.
  HR_BOTH uint16_t below(double value_) const {
    double code = std::floor(position(value_));
    if (value(code) > value_) code -= 1;
    return clamp(code);
  }

  HR_BOTH uint16_t above(double value_) const {
    double code = std::ceil(position(value_));
    if (value(code) < value_) code += 1;
    return clamp(code);
  }
};

/// Bytes that `code` takes after `before`: 1, or 3 where the difference does not fit.
HR_BOTH inline int64_t packed_size(uint16_t before, uint16_t code) {
  const int difference = code - before;
  return difference >= -127 && difference <= 127 ? 1 : 3;
}

HR_BOTH inline uint8_t* pack_code(uint16_t before, uint16_t code, uint8_t* out) {
  if (packed_size(before, code) == 1) {
    *out++ = static_cast<uint8_t>(128 + code - before);
  } else {
    *out++ = 0;
    *out++ = static_cast<uint8_t>(code & 255);
    *out++ = static_cast<uint8_t>(code >> 8);
  }
  return out;
}

}  // namespace hr
