// SPDX-License-Identifier: Apache-2.0
// Numbers as text: integers, and the shortest decimals that read back to a float. Eight digits at a
// time, without a branch on how many there are.
#pragma once
#include "headrace/algo/math/wide_powers_of_ten.h"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace hr {

/// Bytes that must be writable where a number begins; its text takes at most 25 of them.
inline constexpr int64_t kNumberRoom = 64;

namespace number_text {

__extension__ using Wide = unsigned __int128;

inline constexpr uint64_t kZeros = 0x3030303030303030;
inline constexpr uint64_t kTen8 = 100'000'000, kTen16 = kTen8 * kTen8;

/// The digits 0 to 9 of a number below 10^8 as bytes, the first one lowest.
constexpr uint64_t eight_digits(uint32_t number) {
  const uint64_t upper = number / 10'000, lower = number % 10'000;
  const uint64_t fours = upper | lower << 32;
  const uint64_t hundreds = (fours * 10'486 >> 20) & 0x7F'0000'007F;  // over 100
  const uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
  const uint64_t tens = (pairs * 103 >> 10) & 0x000F'000F'000F'000F;  // over 10
  return tens | (pairs - tens * 10) << 8;
}

inline void put_eight(uint64_t bytes, char* out) {
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  std::memcpy(out, &bytes, 8);
}

inline void put_sixteen(Wide bytes, char* out) {
  put_eight(static_cast<uint64_t>(bytes), out);
  put_eight(static_cast<uint64_t>(bytes >> 64), out + 8);
}

/// Writes a number below 10^8 without zeros in front.
inline char* put_short(uint32_t number, char* out) {
  const uint64_t digits = eight_digits(number);
  const int zeros = std::countr_zero(digits | uint64_t{1} << 56) / 8;
  put_eight((digits + kZeros) >> 8 * zeros, out);
  return out + 8 - zeros;
}

inline char* put_all_eight(uint64_t number, char* out) {
  put_eight(eight_digits(static_cast<uint32_t>(number)) + kZeros, out);
  return out + 8;
}

inline char* put_whole(uint64_t number, char* out) {
  if (number < kTen8) return put_short(static_cast<uint32_t>(number), out);
  const uint64_t upper = number / kTen8;
  out = upper < kTen8
            ? put_short(static_cast<uint32_t>(upper), out)
            : put_all_eight(upper % kTen8, put_short(static_cast<uint32_t>(upper / kTen8), out));
  return put_all_eight(number % kTen8, out);
}

/// What a float consists of: significand * 2^power.
template <class T>
struct FloatParts {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static constexpr int kBits = std::numeric_limits<T>::digits - 1;
  static constexpr int kBias = std::numeric_limits<T>::max_exponent - 1 + kBits;
  static constexpr Bits kHidden = Bits{1} << kBits;

  uint64_t significand;
  int power;
  bool is_narrow_below;  ///< the float below is half as far away as the one above

  explicit FloatParts(Bits magnitude) {
    const Bits fraction = magnitude & (kHidden - 1);
    const int exponent = static_cast<int>(magnitude >> kBits);
    significand = exponent == 0 ? fraction : fraction | kHidden;
    power = (exponent == 0 ? 1 : exponent) - kBias;
    is_narrow_below = fraction == 0 && exponent > 1;
  }
};

/// digits * 10^power.
struct Decimal {
  uint64_t digits;
  int power;
};

// The upper part of a product with a power that is rounded up; its last bit tells of a rest.
inline uint64_t round_to_odd(const WidePowerOfTen& power, uint64_t number) {
  const Wide upper = Wide{power.high} * number + (Wide{power.low} * number >> 64);
  return static_cast<uint64_t>(upper >> 64) | (static_cast<uint64_t>(upper) > 1);
}

/// The shortest decimal in the interval of reals that round to a float, of these the nearest to it:
/// R. Giulietti, "The Schubfach way to render doubles", 2020. For any float above 0.
template <class T>
Decimal find_shortest(const FloatParts<T>& parts) {
  const uint64_t significand = parts.significand;
  const bool is_odd = significand & 1;
  const int k = (parts.power * 1262611 - (parts.is_narrow_below ? 524031 : 0)) >> 22;
  const int shift = parts.power + floor_log2_of_ten(-k) + 1;
  const WidePowerOfTen& power = wide_power_of_ten(-k);
  const uint64_t value = round_to_odd(power, significand << 2 << shift);  // times 4
  const uint64_t least =
      round_to_odd(power, (4 * significand - 2 + parts.is_narrow_below) << shift) + is_odd;
  const uint64_t most = round_to_odd(power, (4 * significand + 2) << shift) - is_odd;
  const uint64_t below = value / 4;
  if (below >= 10) {
    const uint64_t tens = below / 10;
    const bool has_lower = least <= 40 * tens, has_upper = 40 * tens + 40 <= most;
    if (has_lower != has_upper) return {10 * (tens + has_upper), k};
  }
  const bool has_lower = least <= 4 * below, has_upper = 4 * below + 4 <= most;
  if (has_lower != has_upper) return {below + has_upper, k};
  const uint64_t middle = 4 * below + 2;
  return {below + (value > middle || (value == middle && (below & 1))), k};
}

/// The same for most doubles by one product: with the value in units of 10^power, its half gap to
/// the next doubles decides whether a multiple of ten is near enough. What is nearer to a border
/// than the product's error is left to find_shortest.
inline Decimal find_shortest_double(const FloatParts<double>& parts) {
  if (parts.is_narrow_below || parts.significand < FloatParts<double>::kHidden) [[unlikely]]
    return find_shortest(parts);
  const int k = (parts.power * 1262611) >> 22;
  const int shift = parts.power + floor_log2_of_ten(-k) + 1;  // 1 to 4
  const WidePowerOfTen& power = wide_power_of_ten(-k);
  const uint64_t number = parts.significand << shift;
  const Wide product = Wide{power.high} * number + (Wide{power.low} * number >> 64);
  const auto below = static_cast<uint64_t>(product >> 64), rest = static_cast<uint64_t>(product);
  const uint64_t tens = below / 10;
  // In units of 2^-60.
  const uint64_t above = (below - 10 * tens) << 60 | rest >> 4;  // the value above 10 * tens
  const uint64_t beneath = (uint64_t{10} << 60) - above;
  const uint64_t half_gap = power.high >> (5 - shift);
  constexpr uint64_t kError = 4;
  const auto is_near = [](uint64_t a, uint64_t b) { return a - b + kError <= 2 * kError; };
  if (is_near(above, half_gap) | is_near(beneath, half_gap) | is_near(rest, uint64_t{1} << 63))
      [[unlikely]]
    return find_shortest(parts);
  // Which it is depends on the last digits, so branches would be guessed.
  const uint64_t has_upper = beneath < half_gap, is_tens = has_upper | (above < half_gap);
  const uint64_t last = (below - 10 * tens + (rest >> 63)) & (is_tens - 1);
  return {10 * (tens + has_upper) + last, k};
}

/// The digits of a decimal: `first`, then 16 as bytes 0 to 9, the first one lowest.
struct Digits {
  uint64_t first;
  Wide others;
  int count;  ///< without zeros at the end
  int power;  ///< of ten, that `first` stands for

  explicit Digits(Decimal decimal) {
    const uint64_t is_short = decimal.digits < kTen16;
    uint64_t number = decimal.digits + 9 * decimal.digits * is_short;
    power = decimal.power + 16 - static_cast<int>(is_short);
    if (number < kTen16) [[unlikely]]
      for (; number < kTen16; --power) number *= 10;
    const uint64_t rest = number / kTen8, end = number - rest * kTen8;
    first = static_cast<uint32_t>(rest) / static_cast<uint32_t>(kTen8);
    const uint64_t lower = eight_digits(static_cast<uint32_t>(end));
    const uint64_t upper = eight_digits(static_cast<uint32_t>(rest - first * kTen8));
    others = Wide{lower} << 64 | upper;
    const uint64_t is_upper = lower == 0, last = lower | (upper & (0 - is_upper));
    count = 17 - 8 * static_cast<int>(is_upper) - std::countl_zero(last | 1) / 8 - (last == 0);
  }
};

inline char* put_power(int power, char* out) {
  *out++ = 'e';
  *out++ = power < 0 ? '-' : '+';
  const auto size = static_cast<uint32_t>(power < 0 ? -power : power);
  const uint64_t digits = (eight_digits(size) + kZeros) >> 40;  // of three
  const int zeros = size < 100;
  put_eight(digits >> 8 * zeros, out);
  return out + 3 - zeros;
}

// Zeros behind the last digit stand where a whole number has its fraction.
inline char* put_fixed(const Digits& digits, Wide text, char* out) {
  const int point = digits.power + 1;
  if (point <= 0) {
    std::memcpy(out, "0.000", 5);
    out[2 - point] = static_cast<char>('0' + digits.first);
    put_sixteen(text, out + 3 - point);
    return out + 2 - point + digits.count;
  }
  *out = static_cast<char>('0' + digits.first);
  put_sixteen(text, out + 1);
  put_sixteen(text >> 8 * (point - 1), out + point + 1);
  out[point] = '.';
  return out + 1 + (digits.count > point ? digits.count : point + 1);
}

inline char* put_scientific(const Digits& digits, Wide text, char* out) {
  out[0] = static_cast<char>('0' + digits.first);
  out[1] = '.';
  put_sixteen(text, out + 2);
  return put_power(digits.power, out + digits.count + (digits.count > 1));
}

// All digits of a whole number below 10^32.
inline char* put_exactly(Wide number, char* out) {
  const auto upper = static_cast<uint64_t>(number / kTen16);
  const auto lower = static_cast<uint64_t>(number % kTen16);
  if (upper == 0) return put_whole(lower, out);
  return put_all_eight(lower % kTen8, put_all_eight(lower / kTen8, put_whole(upper, out)));
}

// Whether C++ writes it without a power of ten: where that is not longer.
inline bool is_fixed_shorter(const Digits& digits) {
  const int places = digits.power, count = digits.count;
  return (places < 0 ? -places : places - count) <= 3 + (count > 1);
}

}  // namespace number_text

/// When a float is written with a power of ten.
enum class FloatNotation : uint8_t {
  kShorter,  ///< where that is shorter, as C++'s std::to_chars; else whole numbers are exact
  kPython,   ///< from 1e16 on and below 1e-4
};

/// Writes an integer; gives the end.
template <std::integral T>
char* write_integer(T value, char* out) {
  auto rest = static_cast<uint64_t>(value);
  if constexpr (std::is_signed_v<T>) {
    *out = '-';
    out += value < 0;
    rest = value < 0 ? 0 - rest : rest;
  }
  return number_text::put_whole(rest, out);
}

/// Writes the shortest text that reads back to the float, of these the nearest to it; a whole
/// number gets ".0", others are "inf", "-inf" and "nan". Gives the end.
template <FloatNotation notation, std::floating_point T>
char* write_float(T value, char* out) {
  using Parts = number_text::FloatParts<T>;
  using Bits = typename Parts::Bits;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  constexpr Bits kInfinite = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const auto bits = std::bit_cast<Bits>(value);
  const Bits magnitude = bits & ~kSign;
  if (magnitude > kInfinite) {
    std::memcpy(out, "nan", 3);
    return out + 3;
  }
  *out = '-';
  out += bits != magnitude;
  if (magnitude == 0 || magnitude == kInfinite) {
    std::memcpy(out, magnitude == 0 ? "0.0" : "inf", 3);
    return out + 3;
  }
  const Parts parts(magnitude);
  number_text::Decimal decimal;
  if constexpr (std::is_same_v<T, double>)
    decimal = number_text::find_shortest_double(parts);
  else
    decimal = number_text::find_shortest(parts);
  const number_text::Digits digits(decimal);
  const number_text::Wide text =
      digits.others | number_text::Wide{number_text::kZeros} << 64 | number_text::kZeros;
  bool is_fixed;
  if constexpr (notation == FloatNotation::kPython)
    is_fixed = digits.power >= -4 && digits.power < 16;
  else
    is_fixed = number_text::is_fixed_shorter(digits);
  if (!is_fixed) return number_text::put_scientific(digits, text, out);
  if (notation == FloatNotation::kShorter && parts.power > 0) {
    out = number_text::put_exactly(number_text::Wide{parts.significand} << parts.power, out);
    std::memcpy(out, ".0", 2);
    return out + 2;
  }
  return number_text::put_fixed(digits, text, out);
}

}  // namespace hr
