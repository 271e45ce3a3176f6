// SPDX-License-Identifier: Apache-2.0
// Decimal to binary on any processor: digits times a power of ten, correctly rounded, by a table of
// powers of five.
#pragma once
#include "headrace/base/api.h"

#include <fast_float/fast_float.h>

#include <cstdint>
#include <type_traits>

namespace hr {

/// Upper and lower half of a product.
struct WideProduct {
  uint64_t high;
  uint64_t low;
};

HR_BOTH inline WideProduct multiply_wide(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  return {__umul64hi(a, b), a * b};
#else
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
#endif
}

HR_BOTH inline int leading_zeros(uint64_t w) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<int64_t>(w));
#else
  return __builtin_clzll(w);
#endif
}

/// w * 10^q correctly rounded, for w that holds all digits. `fives` is fast_float's table of pairs
/// of words, from 5^-342 on. False in the rare case that needs the digits themselves. Source: N.
/// Mushtak and D. Lemire, "Fast number parsing without fallback", 2023.
template <class T>
HR_BOTH inline bool scale_decimal(uint64_t w, int64_t q, bool negative, const uint64_t* fives,
                                  T* value) {
  using Format = fast_float::binary_format<T>;
  using Bits = std::conditional_t<std::is_same_v<T, double>, uint64_t, uint32_t>;
  constexpr int kBits = Format::mantissa_explicit_bits();
  constexpr int kInfinite = Format::infinite_power();
  uint64_t mantissa = 0;
  int power = 0;
  if (w != 0 && q > Format::largest_power_of_ten()) {
    power = kInfinite;
  } else if (w != 0 && q >= Format::smallest_power_of_ten()) {
    const int zeros = leading_zeros(w);
    w <<= zeros;
    const uint64_t* const five = fives + 2 * (q - fast_float::powers::smallest_power_of_five);
    WideProduct product = multiply_wide(w, five[0]);
    constexpr uint64_t kUnsure = ~uint64_t{0} >> (kBits + 3);
    if ((product.high & kUnsure) == kUnsure) {
      const uint64_t more = multiply_wide(w, five[1]).high;
      product.low += more;
      product.high += more > product.low;
    }
    if (product.low == ~uint64_t{0} && (q < -27 || q > 55)) return false;
    const int upper = static_cast<int>(product.high >> 63);
    const int dropped = upper + 64 - kBits - 3;
    mantissa = product.high >> dropped;
    power = static_cast<int>((217706 * q) >> 16) + 63 + upper - zeros - Format::minimum_exponent();
    if (power <= 0) {  // subnormal, or rounded up to the least number that is not
      mantissa = 1 - power >= 64 ? 0 : mantissa >> (1 - power);
      mantissa = (mantissa + (mantissa & 1)) >> 1;
      power = mantissa >> kBits != 0;
    } else {
      // Halfway between two floats the even one is taken.
      if (product.low <= 1 && q >= Format::min_exponent_round_to_even() &&
          q <= Format::max_exponent_round_to_even() && (mantissa & 3) == 1 &&
          mantissa << dropped == product.high)
        mantissa &= ~uint64_t{1};
      mantissa = (mantissa + (mantissa & 1)) >> 1;
      power += mantissa >> (kBits + 1) != 0;
      if (mantissa >> (kBits + 1) != 0 || power >= kInfinite) mantissa = 0;
      if (power > kInfinite) power = kInfinite;
    }
    mantissa &= ~(uint64_t{1} << kBits);
  }
  const Bits bits = static_cast<Bits>(mantissa) | static_cast<Bits>(power) << kBits |
                    static_cast<Bits>(negative) << (8 * sizeof(T) - 1);
  static_assert(sizeof(Bits) == sizeof(T));
  *value = __builtin_bit_cast(T, bits);
  return true;
}

}  // namespace hr
