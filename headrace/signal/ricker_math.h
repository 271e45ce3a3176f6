// SPDX-License-Identifier: Apache-2.0
// One sample of the Ricker wavelet, computed in double-double arithmetic.
#pragma once
#include "headrace/base/api.h"
#include "headrace/signal/double_double_math.h"

#include <cmath>

namespace hr {

/// A (1 - (x/a)^2) exp(-(x/a)^2 / 2) with A = 2 / (sqrt(3a) pi^(1/4)), rounded to double once (and
/// once more where it is subnormal).
HR_BOTH inline double ricker_sample(double x, double a) {
  constexpr DoubleDouble factor{0x1.bc12081a51aa9p-1, 0x1.3953c2a0e5773p-55};  // 2/(sqrt(3)pi^1/4)
  const double rough = x / a;
  if (!(std::fabs(rough) < 60)) return -0.0;  // exp(-1800) is below every subnormal
  // 1 - (x/a)^2 as (a - x)(a + x) / a^2: the difference is exact, so no digits are lost near x = a.
  const DoubleDouble ratio = DoubleDouble{x, 0.0} / a;
  const DoubleDouble polynomial = (two_sum(a, -x) / a) * (two_sum(a, x) / a);
  const DoubleDouble square = ratio * ratio;
  const ScaledDoubleDouble decay = exp(DoubleDouble{-square.high / 2, -square.low / 2});
  const DoubleDouble value = factor * reciprocal_sqrt(a) * polynomial * decay.mantissa;
  return std::ldexp(value.high, decay.exponent);
}

}  // namespace hr
