// SPDX-License-Identifier: Apache-2.0
// Times as logs write them.
#pragma once
#include "headrace/base/civil_date.h"
#include "headrace/io/parse_number_math.h"

#include <cstdint>
#include <cstring>

namespace hr {

namespace log_time {

/// Two digits at `p`, or -1.
inline int two(const char* p) {
  return is_digit(p[0]) && is_digit(p[1]) ? (p[0] - '0') * 10 + (p[1] - '0') : -1;
}

inline int four(const char* p) {
  const int high = two(p), low = two(p + 2);
  return high < 0 || low < 0 ? -1 : high * 100 + low;
}

/// The month of three letters at `p`, or 0.
inline int month(const char* p) {
  constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  for (int m = 0; m < 12; ++m)
    if (std::memcmp(p, kMonths + 3 * m, 3) == 0) return m + 1;
  return 0;
}

/// Microseconds since 1970; false where there is no such date or clock. A second of 60 is the next.
inline bool put(int year, int month, int day, int hour, int minute, int second, int64_t* micros) {
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return false;
  const int64_t days = days_from_civil({year, month, day});
  *micros = (days * 86'400 + hour * 3600 + minute * 60 + second) * 1'000'000;
  return true;
}

/// "HH:MM:SS" at `p`.
inline bool clock(const char* p, int* hour, int* minute, int* second) {
  *hour = two(p);
  *minute = two(p + 3);
  *second = two(p + 6);
  return p[2] == ':' && p[5] == ':';
}

/// A fraction of a second, ".250" or ",250", of which microseconds are kept, at `p`: the byte
/// behind it.
inline const char* fraction(const char* p, int64_t* micros) {
  if ((*p != '.' && *p != ',') || !is_digit(p[1])) return p;
  int64_t unit = 100'000;
  for (++p; is_digit(*p); ++p, unit /= 10) *micros += unit * (*p - '0');
  return p;
}

/// "Z", "+01:00", "+0100" or nothing, which is UTC: the byte behind it, or null.
inline const char* offset(const char* p, const char* end, int64_t* micros) {
  if (p == end) return p;
  if (*p == 'Z') return p + 1;
  if (*p != '+' && *p != '-') return nullptr;
  const bool has_colon = p[3] == ':';
  const int hours = two(p + 1), minutes = two(p + 3 + has_colon);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return nullptr;
  const int64_t ahead = (hours * 3600 + minutes * 60) * int64_t{1'000'000};
  *micros += *p == '+' ? -ahead : ahead;
  return p + 5 + has_colon;
}

}  // namespace log_time

/// "17/May/2015:10:05:03 +0000" in [p, end), behind which 32 bytes are readable.
inline bool parse_http_time(const char* p, const char* end, int64_t* micros) {
  using namespace log_time;
  int hour, minute, second;
  if (end - p != 26 || p[2] != '/' || p[6] != '/' || p[11] != ':' || p[20] != ' ') return false;
  return clock(p + 12, &hour, &minute, &second) &&
         put(four(p + 7), month(p + 3), two(p), hour, minute, second, micros) &&
         offset(p + 21, end, micros) == end;
}

/// "2015-05-17T10:05:03.123456+02:00" and its variants, or "2015/05/17 10:05:03"; the same promise.
inline bool parse_iso_instant(const char* p, const char* end, int64_t* micros) {
  using namespace log_time;
  int hour, minute, second;
  if (end - p < 19 || (p[4] != '-' && p[4] != '/') || p[7] != p[4] ||
      (p[10] != 'T' && p[10] != ' '))
    return false;
  if (!clock(p + 11, &hour, &minute, &second) ||
      !put(four(p), two(p + 5), two(p + 8), hour, minute, second, micros))
    return false;
  return offset(fraction(p + 19, micros), end, micros) == end;
}

/// "Fri Sep 09 10:42:29.902022 2011"; the same promise.
inline bool parse_c_time(const char* p, const char* end, int64_t* micros) {
  using namespace log_time;
  int hour, minute, second;
  if (end - p < 24 || p[3] != ' ' || p[7] != ' ' || p[10] != ' ') return false;
  const int day = p[8] == ' ' && is_digit(p[9]) ? p[9] - '0' : two(p + 8);
  if (!clock(p + 11, &hour, &minute, &second)) return false;
  int64_t part = 0;
  const char* const year = fraction(p + 19, &part);
  if (end - year != 5 || *year != ' ' ||
      !put(four(year + 1), month(p + 4), day, hour, minute, second, micros))
    return false;
  *micros += part;
  return true;
}

/// A time in any of these.
inline bool parse_log_time(const char* p, const char* end, int64_t* micros) {
  return parse_http_time(p, end, micros) || parse_iso_instant(p, end, micros) ||
         parse_c_time(p, end, micros);
}

}  // namespace hr
