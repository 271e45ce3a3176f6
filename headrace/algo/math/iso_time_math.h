// SPDX-License-Identifier: Apache-2.0
// ISO 8601 dates and times as text: the fixed shapes that files hold, eight bytes at a time.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/civil_date.h"
#include "headrace/base/dtype.h"
#include "headrace/data/timezone_rules.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace hr {

/// A time as it stands in text. `end` is null when there is none.
struct IsoTime {
  const char* end = nullptr;
  int64_t days = 0;     ///< since 1970-01-01
  int64_t seconds = 0;  ///< of the day
  int64_t nanos = 0;
  bool has_time = false;  ///< text behind the day
};

namespace iso {

/// The bytes of `p` less those of `shape`, where each '0' of the shape must be a digit and all
/// else itself; false when they are not.
HR_BOTH inline bool match(const char* p, uint64_t shape, uint64_t carry, uint64_t* digits) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  const uint64_t x = word ^ shape;
  *digits = x;
  // A sum has its high bit set where a digit is above 9 or another byte differs.
  return (((x + carry) | x) & 0x8080808080808080u) == 0;
}

inline constexpr uint64_t kDateShape = 0x2D30302D30303030;   // "0000-00-", first byte lowest
inline constexpr uint64_t kDateCarry = 0x7F76767F76767676;   // 0x80 - 10 for digits, else 0x80 - 1
inline constexpr uint64_t kClockShape = 0x30303A30303A3030;  // "00:00:00"
inline constexpr uint64_t kClockCarry = 0x76767F76767F7676;

}  // namespace iso

/// The day "YYYY-MM-DD" at `p`, of which 10 bytes must be readable; false for other text and for
/// days that no calendar has.
HR_BOTH inline bool parse_iso_date(const char* p, int64_t* days) {
  constexpr int32_t kBeforeMonth[] = {0,   0,   31,  59,  90,  120, 151, 181,
                                      212, 243, 273, 304, 334, 0,   0,   0};
  constexpr int8_t kDaysInMonth[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0};
  uint64_t x;
  const auto ten = static_cast<uint8_t>(p[8] - '0'), one = static_cast<uint8_t>(p[9] - '0');
  if (!iso::match(p, iso::kDateShape, iso::kDateCarry, &x) || ten > 3 || one > 9) return false;
  const uint64_t pairs = x * 10 + (x >> 8);  // two digits each in bytes 0, 2 and 5
  const auto year = static_cast<uint32_t>((pairs & 0xFF) * 100 + (pairs >> 16 & 0xFF));
  const auto month = static_cast<uint32_t>(pairs >> 40 & 0xFF);
  const uint32_t day = ten * 10u + one;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (month > 12 || day == 0 ||
      day > static_cast<uint32_t>(kDaysInMonth[month]) + (leap && month == 2))
    return false;
  const uint32_t before = year + 399;  // of year - 1, moved up by 400 years to stay above 0
  const int64_t year_begins = int64_t{before} * 365 + before / 4 - before / 100 + before / 400;
  *days = year_begins + kBeforeMonth[month] + (leap && month > 2) + day - 1 - 865'259;
  return true;
}

/// The time "YYYY-MM-DD" or "YYYY-MM-DD[ T]HH:MM[:SS[.fraction]]" at `p`, with 1 to 9 digits of
/// fraction, in text that ends at `end`; 64 bytes must be readable. A zone is no part of it: "Z"
/// stays behind its end.
HR_BOTH inline IsoTime parse_iso_time(const char* p, const char* end) {
  const auto size = end - p;  // a delimiter may look like part of a time
  IsoTime time;
  if (size < 10 || !parse_iso_date(p, &time.days)) return {};
  time.end = p + 10;
  if (size == 10 || (p[10] != ' ' && p[10] != 'T') || static_cast<uint8_t>(p[11] - '0') > 9)
    return time;
  if (size < 16) return {};
  char clock[8];
  std::memcpy(clock, p + 11, 8);
  const bool has_seconds = size >= 19 && clock[5] == ':';
  if (!has_seconds) std::memcpy(clock + 5, ":00", 3);
  uint64_t x;
  if (!iso::match(clock, iso::kClockShape, iso::kClockCarry, &x)) return {};
  const uint64_t pairs = x * 10 + (x >> 8);
  const uint64_t hour = pairs & 0xFF, minute = pairs >> 24 & 0xFF, second = pairs >> 48 & 0xFF;
  if (hour > 23 || minute > 59 || second > 59) return {};
  time.has_time = true;
  time.seconds = static_cast<int64_t>(hour * 3600 + minute * 60 + second);
  time.end = p + (has_seconds ? 19 : 16);
  if (!has_seconds || size == 19 || *time.end != '.') return time;
  const char* digit = time.end + 1;
  const auto is_digit = [](char c) { return static_cast<uint8_t>(c - '0') <= 9; };
  const int most = size < 29 ? static_cast<int>(size) - 20 : 9;
  int places = 0;
  for (; places < most && is_digit(digit[places]); ++places)
    time.nanos = time.nanos * 10 + (digit[places] - '0');
  if (places == 0 || (places == 9 && size > 29 && is_digit(digit[9]))) return {};
  time.end = digit + places;
  for (; places < 9; ++places) time.nanos *= 10;
  return time;
}

/// "Z", or "+HH:MM:SS", "+HH:MM", "+HHMM" or "+HH" with either sign, all behind one blank or none:
/// `seconds` gets what that is ahead of UTC. Gives the end, or null for other text.
inline const char* parse_iso_offset(const char* p, int64_t* seconds) {
  p += *p == ' ';
  if (*p == 'Z' || *p == 'z') {
    *seconds = 0;
    return p + 1;
  }
  if (*p != '+' && *p != '-') return nullptr;
  const auto digit = [](char c) { return static_cast<uint8_t>(c - '0') <= 9; };
  if (!digit(p[1]) || !digit(p[2])) return nullptr;
  const int hours = (p[1] - '0') * 10 + p[2] - '0';
  const char* end = p + 3;
  int parts[] = {0, 0};
  for (int& part : parts) {
    const char* const at = end + (*end == ':');
    if (!digit(at[0]) || !digit(at[1])) break;
    part = (at[0] - '0') * 10 + at[1] - '0';
    end = at + 2;
  }
  if (hours > 23 || parts[0] > 59 || parts[1] > 59) return nullptr;
  *seconds = (*p == '-' ? -1 : 1) * (hours * 3600 + parts[0] * 60 + parts[1]);
  return end;
}

/// Makes an instant of a time with an offset, or by the clocks of a zone. `end`: of the text; false
/// for other text, and where clocks show the time twice or never.
inline bool to_instant(const TimezoneRules& zone, IsoTime& time, const char* end) {
  if (!time.end) return false;
  int64_t offset;
  if (time.end == end) {
    const int64_t local = time.days * 86'400 + time.seconds;
    const auto [first, last] = ZoneClock(zone).instants_of(local);
    if (first != last) return false;
    offset = local - first;
  } else if (!time.has_time || parse_iso_offset(time.end, &offset) != end) {
    return false;
  }
  time.seconds -= offset;
  return true;
}

/// The time in units; false when it is finer than the unit or does not fit. Years of four digits
/// fit all units but nanoseconds.
HR_BOTH inline bool fit_time(const IsoTime& time, TimeUnit unit, int64_t* value) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMostSeconds = kMost / 1'000'000'000;
  const int64_t units = units_per_second(unit);
  const int64_t nanos_per_unit = 1'000'000'000 / units;
  const int64_t seconds = time.days * 86'400 + time.seconds;
  if (time.nanos % nanos_per_unit != 0 ||
      (unit == TimeUnit::kNano && (seconds > kMostSeconds || seconds < -kMostSeconds)))
    return false;
  const int64_t fraction = time.nanos / nanos_per_unit;
  *value = seconds * units;
  if (*value > kMost - fraction) return false;
  *value += fraction;
  return true;
}

/// Room that a date or time takes at most, an offset included.
inline constexpr int64_t kMaxIsoTime = 64;

/// Writes "YYYY-MM-DD", with more digits or a minus for years that four digits do not hold; gives
/// the end.
inline char* write_iso_date(int64_t days, char* out) {
  const CivilDate date = civil_from_days(days);
  int64_t year = date.year;
  if (year < 0) {
    *out++ = '-';
    year = -year;
  }
  char digits[20];
  int count = 0;
  for (; year > 0 || count < 4; year /= 10) digits[count++] = static_cast<char>('0' + year % 10);
  while (count > 0) *out++ = digits[--count];
  for (const int32_t part : {date.month, date.day}) {
    *out++ = '-';
    *out++ = static_cast<char>('0' + part / 10);
    *out++ = static_cast<char>('0' + part % 10);
  }
  return out;
}

/// Writes "YYYY-MM-DD HH:MM:SS" and, unless it is zero, the fraction with all digits of the unit.
inline char* write_iso_time(int64_t value, TimeUnit unit, char* out) {
  const int64_t units = units_per_second(unit);
  const int64_t seconds = floor_divide(value, units);
  int64_t fraction = floor_modulo(value, units);
  const int64_t days = floor_divide(seconds, 86'400);
  const int64_t second = floor_modulo(seconds, 86'400);
  out = write_iso_date(days, out);
  char before = ' ';
  for (const int64_t part : {second / 3600, second / 60 % 60, second % 60}) {
    *out++ = before;
    *out++ = static_cast<char>('0' + part / 10);
    *out++ = static_cast<char>('0' + part % 10);
    before = ':';
  }
  if (fraction == 0) return out;
  *out++ = '.';
  const int places = unit == TimeUnit::kMilli ? 3 : unit == TimeUnit::kMicro ? 6 : 9;
  for (int i = places; i-- > 0; fraction /= 10) out[i] = static_cast<char>('0' + fraction % 10);
  return out + places;
}

}  // namespace hr
