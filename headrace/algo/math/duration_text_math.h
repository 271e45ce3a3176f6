// SPDX-License-Identifier: Apache-2.0
// Durations as text, as pandas writes them.
#pragma once
#include "headrace/algo/math/decimal_math.h"
#include "headrace/base/civil_date.h"
#include "headrace/base/dtype.h"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace hr {

/// Room that the text of a duration takes at most.
inline constexpr int64_t kMaxDuration = 64;

/// Writes "2 days 03:04:05.250000"; the days of a negative one are negative alone. Gives the end.
inline char* write_duration(int64_t value, TimeUnit unit, char* out) {
  constexpr int kDigits[] = {0, 3, 6, 9};
  const int64_t units = units_per_second(unit);
  const int64_t seconds = floor_divide(value, units), part = floor_modulo(value, units);
  const int64_t days = floor_divide(seconds, 86'400), second = floor_modulo(seconds, 86'400);
  const auto padded = [&](int64_t number, int width) {
    for (int i = width - 1; i >= 0; --i, number /= 10)
      out[i] = static_cast<char>('0' + number % 10);
    out += width;
  };
  out = std::to_chars(out, out + 24, days).ptr;
  for (const char c : std::string_view(days < 0 ? " days +" : " days ")) *out++ = c;
  padded(second / 3600, 2);
  *out++ = ':';
  padded(second / 60 % 60, 2);
  *out++ = ':';
  padded(second % 60, 2);
  if (part != 0) {
    *out++ = '.';
    padded(part, kDigits[static_cast<size_t>(unit)]);
  }
  return out;
}

/// Reads "[-]D day[s][,] [+]HH:MM[:SS[.fraction]]", of which days or clock may be missing, as
/// pandas and Python write it: a sign before days is theirs alone. False for other text, and for
/// what the unit does not hold exactly.
inline bool parse_duration(std::string_view text, TimeUnit unit, int64_t* value) {
  const auto take = [&](char c) {
    const bool found = text.starts_with(c);
    text.remove_prefix(found);
    return found;
  };
  const auto number = [&](int most, int64_t* out) {  // gives how many digits there are
    int count = 0;
    for (*out = 0; count < most && !text.empty(); ++count, text.remove_prefix(1)) {
      const auto digit = static_cast<uint8_t>(text[0] - '0');
      if (digit > 9) break;
      *out = *out * 10 + digit;
    }
    return count;
  };
  constexpr int kLongest = 15;
  bool negative = take('-');
  if (!negative) take('+');
  int64_t hour, days = 0, minute = 0, second = 0, nanos = 0;
  if (number(kLongest, &hour) == 0) return false;
  bool clock = text.starts_with(':');
  if (!clock) {
    days = negative ? -hour : hour;
    negative = false;
    hour = 0;
    while (take(' ')) {
    }
    if (!text.starts_with("day")) return false;
    text.remove_prefix(3);
    take('s');
    take(',');
    while (take(' ')) {
    }
    clock = !text.empty();
    if (clock) take('+');
    if (clock && number(kLongest, &hour) == 0) return false;
  }
  if (clock) {
    if (!take(':') || number(2, &minute) != 2 || minute > 59) return false;
    if (take(':')) {
      if (number(2, &second) != 2 || second > 59) return false;
      if (take('.')) {
        int places = number(9, &nanos);
        if (places == 0) return false;
        for (; places < 9; ++places) nanos *= 10;
      }
    }
  }
  if (!text.empty()) return false;
  const int64_t units = units_per_second(unit), nanos_per_unit = 1'000'000'000 / units;
  Int128 total = (Int128{hour} * 3600 + minute * 60 + second) * units + nanos / nanos_per_unit;
  if (negative) total = -total;
  total += Int128{days} * 86'400 * units;
  *value = static_cast<int64_t>(total);
  return nanos % nanos_per_unit == 0 && total == *value;
}

}  // namespace hr
