// SPDX-License-Identifier: Apache-2.0
// One sample of the Ricker wavelet, computed in double-double arithmetic.
#pragma once
#include "headrace/base/api.h"
#include "headrace/signal/double_double_math.h"

#include <bit>
#include <cstdint>

namespace hr {

/// What all samples of a wavelet share.
struct RickerShape {
  double width;
  DoubleDouble inverse;  ///< 1 / width
  DoubleDouble height;   ///< 2 / (sqrt(3 width) pi^(1/4))
};

/// For a positive finite width.
inline RickerShape ricker_shape(double width) {
  constexpr DoubleDouble factor{0x1.bc12081a51aa9p-1, 0x1.3953c2a0e5773p-55};  // 2/(sqrt(3)pi^1/4)
  // Far below 1 only x = 0 is not zero; far above 2^62 points every sample is the height. So the
  // shape may stop there, and its inverse stays a normal number.
  const double shape = width < 0x1p-10 ? 0x1p-10 : width > 0x1p200 ? 0x1p200 : width;
  const double scale = width < 0x1p-500 ? 0x1p400 : 1.0;  // away from subnormal numbers
  const DoubleDouble root = reciprocal_sqrt(width * scale * scale);
  return {shape, DoubleDouble{1.0, 0.0} / shape, factor * root * scale};
}

/// 2^n for a whole n in [-1022, 1023].
HR_BOTH inline double power_of_two(double n) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(n + 0x1.8p52) + 1023) << 52);
}

/// height (1 - (x/a)^2) exp(-(x/a)^2 / 2) with a = width, rounded to double once (and once more
/// where it is subnormal). No branches, so that a compiler may do several samples at once.
HR_BOTH inline double ricker_sample(double x, const RickerShape& shape) {
  const double rough = x * shape.inverse.high;
  const bool inside = rough > -60 && rough < 60;  // exp(-1800) is below every subnormal
  const double place = inside ? x : 0.0;
  // 1 - (x/a)^2 as (a - x)(a + x) / a^2: the difference is exact, so no digits are lost near x = a.
  const DoubleDouble ratio = shape.inverse * place;
  const DoubleDouble polynomial = (two_sum(shape.width, -place) * shape.inverse) *
                                  (two_sum(shape.width, place) * shape.inverse);
  const DoubleDouble square = ratio * ratio;
  const ScaledDoubleDouble decay = exp(DoubleDouble{-square.high / 2, -square.low / 2});
  const DoubleDouble value = shape.height * polynomial * decay.mantissa;
  // In two steps, as the power may be beyond the range of double. Below 2^-1400 all is zero.
  const double exponent = decay.exponent < -1400 ? -1400 : decay.exponent;
  const double half = (exponent * 0.5 + 0x1.8p52) - 0x1.8p52;
  const double scaled = value.high * power_of_two(half) * power_of_two(exponent - half);
  return inside ? scaled : -0.0;
}

}  // namespace hr
