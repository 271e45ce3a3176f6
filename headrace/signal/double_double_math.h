// SPDX-License-Identifier: Apache-2.0
// Arithmetic on unevaluated sums of two doubles (about 104 bits), built on exact transformations
// (T. J. Dekker 1971; D. E. Knuth, The Art of Computer Programming, vol. 2). Only + - * / sqrt and
// fma are used, which IEEE 754 rounds alike everywhere: constants made with it have the same bits
// on every machine, which libm and long double do not promise.
#pragma once
#include "headrace/base/api.h"

#include <cmath>
#include <cstdint>

namespace hr {

/// The value high + low, where |low| is at most half an ulp of high.
struct DoubleDouble {
  double high;
  double low;
};

HR_BOTH inline DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

HR_BOTH inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

HR_BOTH inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

HR_BOTH inline DoubleDouble operator-(DoubleDouble a) {
  return {-a.high, -a.low};
}

HR_BOTH inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble high = two_sum(a.high, b.high);
  const DoubleDouble low = two_sum(a.low, b.low);
  high = quick_two_sum(high.high, high.low + low.high);
  return quick_two_sum(high.high, high.low + low.low);
}

HR_BOTH inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) {
  return a + -b;
}

HR_BOTH inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = two_product(a.high, b.high);
  return quick_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

HR_BOTH inline DoubleDouble operator*(DoubleDouble a, double b) {
  const DoubleDouble product = two_product(a.high, b);
  return quick_two_sum(product.high, std::fma(a.low, b, product.low));
}

HR_BOTH inline DoubleDouble operator/(DoubleDouble a, double b) {
  const double quotient = a.high / b;
  const DoubleDouble back = two_product(quotient, b);
  return quick_two_sum(quotient, ((a.high - back.high) - back.low + a.low) / b);
}

/// 1 / sqrt(a) for a normal positive a.
HR_BOTH inline DoubleDouble reciprocal_sqrt(double a) {
  const double root = std::sqrt(a);
  const DoubleDouble exact_root = quick_two_sum(root, std::fma(-root, root, a) / (root + root));
  const double inverse = 1.0 / root;
  const DoubleDouble rest = DoubleDouble{1.0, 0.0} - exact_root * inverse;
  return quick_two_sum(inverse, rest.high * inverse);
}

/// A number mantissa * 2^exponent, for results beyond the range of double. The exponent is whole.
struct ScaledDoubleDouble {
  DoubleDouble mantissa;
  double exponent;
};

/// exp(a) for |a| < 2000: the argument less a multiple of log 2, by Taylor's series of which only
/// the first two terms are summed in double-double. Relative error below 2^-55. No branches: a
/// compiler may do several arguments at once.
HR_BOTH inline ScaledDoubleDouble exp(DoubleDouble a) {
  constexpr DoubleDouble log2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  constexpr double shift = 0x1.8p52;  // adding it rounds to a whole number
  const double multiple = (a.high / log2.high + shift) - shift;
  const DoubleDouble reduced = a - log2 * multiple;
  const double r = reduced.high;
  constexpr double kFactorials[] = {87178291200.0, 6227020800.0, 479001600.0, 39916800.0, 3628800.0,
                                    362880.0,      40320.0,      5040.0,      720.0,      120.0,
                                    24.0,          6.0,          2.0};
  double tail = 1.0 / 1307674368000.0;
  for (const double factorial : kFactorials) tail = tail * r + 1.0 / factorial;
  const DoubleDouble first = quick_two_sum(1.0, r);
  const double rest = first.low + (tail * (r * r) + reduced.low * first.high);
  return {quick_two_sum(first.high, rest), multiple};
}

struct SinCos {
  DoubleDouble sin;
  DoubleDouble cos;
};

/// Sine and cosine of an angle in [0, pi/4] by Taylor's series. Relative error about 2^-100.
HR_BOTH inline SinCos sin_cos(DoubleDouble a) {
  const DoubleDouble square = a * a;
  const DoubleDouble one{1.0, 0.0};
  SinCos result{one, one};
  for (int term = 26; term >= 2; term -= 2) {
    result.cos = one - square * result.cos / static_cast<double>(term * (term - 1));
    result.sin = one - square * result.sin / static_cast<double>((term + 1) * term);
  }
  result.sin = result.sin * a;
  return result;
}

}  // namespace hr
