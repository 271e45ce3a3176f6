// SPDX-License-Identifier: Apache-2.0
// Text to number, always correctly rounded. Callers promise 32 readable bytes behind the text.
#pragma once
#include "headrace/io/scale_decimal_math.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace hr {

inline uint64_t load_eight(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

inline bool is_digit(char c) {
  return static_cast<uint8_t>(c - '0') < 10;
}

/// True when all eight bytes are ASCII digits.
inline bool are_digits(uint64_t eight) {
  return (((eight + 0x4646464646464646) | (eight - 0x3030303030303030)) & 0x8080808080808080) == 0;
}

/// The number that eight digits say: pairs, then fours, then eights, by three multiplications.
/// Source: D. Lemire, "Number parsing at a gigabyte per second", 2021.
inline uint64_t eight_digits(uint64_t eight) {
  eight -= 0x3030303030303030;
  eight = eight * 10 + (eight >> 8);
  return (((eight & 0x000000FF000000FF) * 0x000F424000000064) +
          (((eight >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
         32;
}

/// The same by the table of this processor.
template <class T>
inline bool scale_decimal(uint64_t w, int64_t q, bool negative, T* value) {
  return scale_decimal(w, q, negative, fast_float::powers::power_of_five_128, value);
}

/// "%.18e" text, "-1.234567890123456789e-01": the shape that NumPy's savetxt writes. Returns the
/// byte behind it, or null when the text at `p` has another shape.
template <class T>
inline const char* parse_scientific18(const char* p, T* value) {
  const bool negative = *p == '-';
  p += negative;
  const uint64_t high = load_eight(p + 2);
  const uint64_t low = load_eight(p + 10);
  const auto digit = [p](int i) { return static_cast<uint32_t>(static_cast<uint8_t>(p[i] - '0')); };
  if (!(p[1] == '.' && are_digits(high) && are_digits(low) && digit(0) < 10 && digit(18) < 10 &&
        digit(19) < 10 && (p[20] | 0x20) == 'e' && (p[21] == '-' || p[21] == '+') &&
        digit(22) < 10 && digit(23) < 10 && !is_digit(p[24])))
    return nullptr;
  const uint64_t w = digit(0) * uint64_t{1000000000000000000} +
                     (eight_digits(high) * 100000000 + eight_digits(low)) * 100 + digit(18) * 10 +
                     digit(19);
  const auto exponent = static_cast<int64_t>(digit(22) * 10 + digit(23));
  if (!scale_decimal(w, (p[21] == '-' ? -exponent : exponent) - 18, negative, value))
    return nullptr;
  return p + 24;
}

/// Any float: [+-] digits with or without a point and an exponent, inf, infinity, nan (any case).
/// Too large is infinite, too small zero. Returns the byte behind it, or null.
template <class T>
inline const char* parse_float(const char* p, const char* end, T* value) {
  if (p < end && *p == '+') {
    ++p;
    if (p < end && (*p == '-' || *p == '+')) return nullptr;
  }
  const fast_float::from_chars_result result = fast_float::from_chars(p, end, *value);
  if (result.ptr == p || result.ec == std::errc::invalid_argument) return nullptr;
  return result.ptr;
}

/// A whole number in text: sign and magnitude.
struct IntegerText {
  uint64_t magnitude = 0;
  bool negative = false;
  bool overflow = false;      ///< the magnitude does not fit in 64 bits
  const char* end = nullptr;  ///< the byte behind it; null: not a whole number
};

inline IntegerText parse_integer(const char* p) {
  IntegerText result;
  result.negative = *p == '-';
  p += result.negative || *p == '+';
  const char* const first = p;
  if (!is_digit(*p)) return result;
  uint64_t magnitude = 0;
  if (const uint64_t eight = load_eight(p); are_digits(eight)) {
    magnitude = eight_digits(eight);
    p += 8;
  }
  for (; is_digit(*p); ++p) {
    const auto digit = static_cast<uint64_t>(*p - '0');
    if (p - first < 18) {
      magnitude = magnitude * 10 + digit;
    } else {
      result.overflow |= __builtin_mul_overflow(magnitude, uint64_t{10}, &magnitude);
      result.overflow |= __builtin_add_overflow(magnitude, digit, &magnitude);
    }
  }
  result.magnitude = magnitude;
  result.end = p;
  return result;
}

/// Puts the number into T; false when it does not fit.
template <class T>
inline bool fit_integer(const IntegerText& text, T* value) {
  if (text.overflow) return false;
  if constexpr (std::is_unsigned_v<T>) {
    if ((text.negative && text.magnitude != 0) || text.magnitude > std::numeric_limits<T>::max())
      return false;
    *value = static_cast<T>(text.magnitude);
  } else {
    const uint64_t most = static_cast<uint64_t>(std::numeric_limits<T>::max()) + text.negative;
    if (text.magnitude > most) return false;
    *value = static_cast<T>(text.negative ? uint64_t{0} - text.magnitude : text.magnitude);
  }
  return true;
}

/// true, True, TRUE, false, False, FALSE: 1 or 0, else -1.
inline int parse_bool(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return 1;
  if (text == "false" || text == "False" || text == "FALSE") return 0;
  return -1;
}

}  // namespace hr
