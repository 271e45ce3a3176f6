// SPDX-License-Identifier: Apache-2.0
// Decimals as 128-bit integers: exact arithmetic that tells when digits do not fit, and their text.
#pragma once
#include "headrace/base/dtype.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace hr {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

inline constexpr int kMostDigits = 38;

inline constexpr std::array<Int128, kMostDigits + 1> kPowersOfTen = [] {
  std::array<Int128, kMostDigits + 1> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

constexpr Int128 power_of_ten(int digits) {
  return kPowersOfTen[static_cast<size_t>(digits)];
}

/// True for a number of at most this many digits.
constexpr bool has_digits(Int128 value, int precision) {
  return value < power_of_ten(precision) && value > -power_of_ten(precision);
}

/// The same number with this many more digits after the decimal point; false when it does not fit.
constexpr bool scale_up(Int128 value, int digits, Int128* out) {
  return digits <= kMostDigits ? !__builtin_mul_overflow(value, power_of_ten(digits), out)
                               : (*out = 0, value == 0);
}

/// The number with this many digits fewer, rounded to the nearest, halves to even.
constexpr Int128 scale_down(Int128 value, int digits) {
  if (digits > kMostDigits) return 0;
  const Int128 unit = power_of_ten(digits);
  Int128 quotient = value / unit;
  const Int128 rest = value % unit;  // with the sign of the value
  const Int128 size = rest < 0 ? -rest : rest, other = unit - size;
  if (size > other || (size == other && digits > 0 && quotient % 2 != 0))
    quotient += value < 0 ? -1 : 1;
  return quotient;
}

/// Below, at or above 0 as a is less than, equal to or greater than b. The greatest values of any
/// scale can be compared.
constexpr int compare_decimals(Int128 a, int scale_a, Int128 b, int scale_b) {
  Int128 x = a, y = b;
  // What does not fit in 38 digits is greater than all that do.
  if (scale_a < scale_b && !scale_up(a, scale_b - scale_a, &x)) return a < 0 ? -1 : 1;
  if (scale_b < scale_a && !scale_up(b, scale_a - scale_b, &y)) return b < 0 ? 1 : -1;
  return (x > y) - (x < y);
}

/// A sum of decimals in two parts that 2^63 of them cannot overflow.
class DecimalSum {
 public:
  constexpr DecimalSum() = default;

  constexpr explicit DecimalSum(Int128 value)
      : high_(value >> 64), low_(static_cast<uint64_t>(value)) {}

  constexpr DecimalSum& operator+=(const DecimalSum& other) {
    high_ += other.high_;
    low_ += other.low_;
    return *this;
  }

  /// False for more than 38 digits.
  constexpr bool get(Int128* out) const {
    const Int128 upper = high_ + static_cast<Int128>(low_ >> 64);
    if (upper < -(Int128{1} << 63) || upper >= Int128{1} << 63) return false;
    *out = static_cast<Int128>(static_cast<UInt128>(upper) << 64 | static_cast<uint64_t>(low_));
    return has_digits(*out, kMostDigits);
  }

 private:
  Int128 high_ = 0;  // of the upper 64 bits, with their sign
  UInt128 low_ = 0;  // of the lower 64 bits
};

/// Room that the text of a decimal takes at most.
inline constexpr int64_t kMaxDecimal = 48;

/// Writes the decimal with all digits of its scale; gives the end.
inline char* write_decimal(Int128 value, int scale, char* out) {
  char digits[kMaxDecimal];
  int count = 0;
  UInt128 size = value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  for (; size != 0 || count <= scale; size /= 10)
    digits[count++] = static_cast<char>('0' + static_cast<int>(size % 10));
  if (value < 0) *out++ = '-';
  while (count > 0) {
    if (count-- == scale) *out++ = '.';
    *out++ = digits[count];
  }
  return out;
}

/// A number as it stands in text: `units` of 10^-scale.
struct DecimalText {
  bool good = false;
  Int128 units = 0;
  int scale = 0;   ///< digits behind the point; below 0 for zeros before it
  int digits = 0;  ///< of the units
};

/// Digits with a sign, a point and a power of ten, or not good: other text, or more than 38 digits
/// that are not zeros at the ends.
inline DecimalText parse_decimal(const char* begin, const char* end) {
  DecimalText made;
  const char* at = begin;
  const bool negative = at < end && *at == '-';
  at += at < end && (*at == '-' || *at == '+');
  bool any = false, point = false;
  int zeros = 0;  // read and not yet taken in
  for (; at < end; ++at) {
    if (*at == '.' && !point) {
      point = true;
      continue;
    }
    const auto digit = static_cast<uint8_t>(*at - '0');
    if (digit > 9) break;
    any = true;
    made.scale += point;
    if (digit == 0) {
      zeros += made.digits > 0;
      continue;
    }
    if (made.digits > 0) made.digits += zeros;
    if (++made.digits > kMostDigits) return {};
    made.units = made.units * power_of_ten(zeros + 1) + digit;
    zeros = 0;
  }
  if (!any) return {};
  made.scale -= zeros;
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    const bool down = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    int power = 0, places = 0;
    for (; at < end && static_cast<uint8_t>(*at - '0') <= 9 && places < 6; ++at, ++places)
      power = power * 10 + (*at - '0');
    if (places == 0) return {};
    made.scale -= down ? -power : power;
  }
  if (at != end) return {};
  if (negative) made.units = -made.units;
  if (made.units == 0) made.scale = 0;
  made.good = true;
  return made;
}

/// What the text is in units of the dtype; false when it has digits that the dtype has not.
inline bool fit_decimal(const DecimalText& text, Dtype dtype, Int128* units) {
  if (!text.good || text.scale > dtype.scale()) return false;
  return scale_up(text.units, dtype.scale() - text.scale, units) &&
         has_digits(*units, dtype.precision());
}

}  // namespace hr
