// SPDX-License-Identifier: Apache-2.0
// Patterns of dates and times, written and read.
#include "headrace/functions/temporal/strftime.h"

#include "headrace/base/civil_date.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace hr {

namespace {

constexpr int64_t kDaySeconds = 86'400;
constexpr size_t kYearBytes = 20;
constexpr size_t kWordBytes = 10;
constexpr std::string_view kKnown = "YymdHIMSfpjaAbBFTz%";
constexpr std::string_view kNotRead = "j", kNotWritten = "z";
constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
// 1970-01-01 was a Thursday.
constexpr std::array<std::string_view, 7> kDays = {"Thursday", "Friday",  "Saturday", "Sunday",
                                                   "Monday",   "Tuesday", "Wednesday"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

char* put(std::string_view text, char* out) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* put_number(int64_t value, int places, char* out) {
  for (int i = places; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + places;
}

char* put_year(int64_t year, char* out) {
  if (year < 0) *out++ = '-';
  year = std::abs(year);
  int places = 4;
  for (int64_t rest = year / 10'000; rest > 0; rest /= 10) ++places;
  return put_number(year, places, out);
}

// Takes `least` to `most` digits off the text.
bool take_number(std::string_view& text, size_t least, size_t most, int64_t& value) {
  size_t count = 0;
  value = 0;
  for (; count < most && count < text.size() && is_digit(text[count]); ++count)
    value = value * 10 + (text[count] - '0');
  text.remove_prefix(count);
  return count >= least;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (text.size() < word.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (size_t i = 0; i < word.size(); ++i)
    if (lower(text[i]) != lower(word[i])) return false;
  text.remove_prefix(word.size());
  return true;
}

bool take_month(std::string_view& text, bool whole, int64_t& month) {
  for (size_t i = 0; i < kMonths.size(); ++i)
    if (take_word(text, whole ? kMonths[i] : kMonths[i].substr(0, 3))) {
      month = static_cast<int64_t>(i) + 1;
      return true;
    }
  return false;
}

// "Z", or hours and minutes in front of UTC: "+02:00", "-0530", "+01".
bool take_offset(std::string_view& text, int64_t& seconds) {
  if (take_word(text, "Z")) return true;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const int64_t sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  int64_t hours = 0, minutes = 0;
  if (!take_number(text, 2, 2, hours)) return false;
  const bool colon = text.starts_with(":");
  if (colon) text.remove_prefix(1);
  if (!take_number(text, colon ? 2 : 0, 2, minutes)) return false;
  seconds = sign * (hours * 3600 + minutes * 60);
  return hours < 24 && minutes < 60;
}

bool take_fraction(std::string_view& text, int64_t& nanos) {
  size_t places = 0;
  nanos = 0;
  for (; places < 9 && places < text.size() && is_digit(text[places]); ++places)
    nanos = nanos * 10 + (text[places] - '0');
  text.remove_prefix(places);
  const bool found = places > 0;
  for (; places < 9; ++places) nanos *= 10;
  return found;
}

}  // namespace

CivilTime civil_time_from_days(int64_t days) {
  return {days, 0, 0};
}

CivilTime civil_time_from_timestamp(int64_t value, TimeUnit unit) {
  const int64_t units = units_per_second(unit);
  const int64_t seconds = floor_divide(value, units);
  return {floor_divide(seconds, kDaySeconds), floor_modulo(seconds, kDaySeconds),
          floor_modulo(value, units) * (1'000'000'000 / units)};
}

TimePattern::TimePattern(std::string_view op, const std::string& pattern, bool reads) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      if (items_.empty() || items_.back().letter != 0) items_.push_back({});
      items_.back().literal += pattern[at];
      ++most_bytes_;
    } else {
      add(op, at + 1 < pattern.size() ? pattern[++at] : '\0', pattern, reads);
    }
  }
}

void TimePattern::add(std::string_view op, char letter, const std::string& pattern, bool reads) {
  const std::string_view none = reads ? kNotRead : kNotWritten;
  if (letter == '\0' || kKnown.find(letter) == kKnown.npos || none.find(letter) != none.npos)
    throw_error<InvalidArgumentError>(
        op, "unknown directive in the format",
        {{"letter", std::string("%") + letter}, {"format", pattern}},
        reads ? "use %Y %y %m %d %H %I %M %S %f %p %a %A %b %B %F %T %z %%"
              : "use %Y %y %m %d %H %I %M %S %f %p %j %a %A %b %B %F %T %%");
  if (letter == 'F' || letter == 'T') {
    const std::string_view parts = letter == 'F' ? "Y-m-d" : "H:M:S";
    for (size_t i = 0; i < parts.size(); i += 2) {
      add(op, parts[i], pattern, reads);
      if (i + 1 < parts.size()) items_.push_back({0, std::string(1, parts[i + 1])});
    }
    most_bytes_ += 2;
    return;
  }
  if (letter == '%')
    items_.push_back({0, "%"});
  else
    items_.push_back({letter, {}});
  most_bytes_ += letter == 'Y' ? kYearBytes : kWordBytes;
}

char* TimePattern::write(const CivilTime& civil_time, char* out) const {
  const CivilDate date = civil_from_days(civil_time.days);
  const int64_t hour = civil_time.seconds / 3600;
  const auto weekday = kDays[static_cast<size_t>(floor_modulo(civil_time.days, 7))];
  const auto month = kMonths[static_cast<size_t>(date.month - 1)];
  for (const Item& item : items_) switch (item.letter) {
      case 0:
        out = put(item.literal, out);
        break;
      case 'Y':
        out = put_year(date.year, out);
        break;
      case 'y':
        out = put_number(floor_modulo(date.year, 100), 2, out);
        break;
      case 'm':
        out = put_number(date.month, 2, out);
        break;
      case 'd':
        out = put_number(date.day, 2, out);
        break;
      case 'H':
        out = put_number(hour, 2, out);
        break;
      case 'I':
        out = put_number((hour + 11) % 12 + 1, 2, out);
        break;
      case 'M':
        out = put_number(civil_time.seconds / 60 % 60, 2, out);
        break;
      case 'S':
        out = put_number(civil_time.seconds % 60, 2, out);
        break;
      case 'f':
        out = put_number(civil_time.nanos / 1000, 6, out);
        break;
      case 'p':
        out = put(hour < 12 ? "AM" : "PM", out);
        break;
      case 'j':
        out = put_number(civil_time.days - days_from_civil({date.year, 1, 1}) + 1, 3, out);
        break;
      case 'a':
        out = put(weekday.substr(0, 3), out);
        break;
      case 'A':
        out = put(weekday, out);
        break;
      case 'b':
        out = put(month.substr(0, 3), out);
        break;
      default:  // 'B'
        out = put(month, out);
    }
  return out;
}

bool TimePattern::read(std::string_view text, CivilTime& civil_time) const {
  int64_t year = 1900, month = 1, day = 1, hour = 0, minute = 0, second = 0, nanos = 0;
  int64_t offset = 0;
  bool has_offset = false;
  int afternoon = -1;  // not said
  bool twelve = false;
  for (const Item& item : items_) {
    bool fits = true;
    switch (item.letter) {
      case 0:
        fits = text.starts_with(item.literal);
        if (fits) text.remove_prefix(item.literal.size());
        break;
      case 'Y':
        fits = take_number(text, 4, 4, year);
        break;
      case 'y':
        fits = take_number(text, 2, 2, year);
        year += year < 69 ? 2000 : 1900;
        break;
      case 'm':
        fits = take_number(text, 1, 2, month);
        break;
      case 'd':
        fits = take_number(text, 1, 2, day);
        break;
      case 'H':
        fits = take_number(text, 1, 2, hour);
        break;
      case 'I':
        fits = take_number(text, 1, 2, hour) && hour >= 1 && hour <= 12;
        twelve = true;
        break;
      case 'M':
        fits = take_number(text, 1, 2, minute);
        break;
      case 'S':
        fits = take_number(text, 1, 2, second);
        break;
      case 'f':
        fits = take_fraction(text, nanos);
        break;
      case 'p':
        afternoon = take_word(text, "PM") ? 1 : take_word(text, "AM") ? 0 : -1;
        fits = afternoon >= 0;
        break;
      case 'a':
      case 'A':
        fits = std::any_of(kDays.begin(), kDays.end(), [&](std::string_view name) {
          return take_word(text, item.letter == 'A' ? name : name.substr(0, 3));
        });
        break;
      case 'z':
        fits = has_offset = take_offset(text, offset);
        break;
      default:  // 'b', 'B'
        fits = take_month(text, item.letter == 'B', month);
    }
    if (!fits) return false;
  }
  if (twelve) hour = hour % 12 + (afternoon == 1 ? 12 : 0);
  if (!text.empty() || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 ||
      second > 59 || day > days_in_month(year, static_cast<int32_t>(month)))
    return false;
  civil_time.days = days_from_civil({year, static_cast<int32_t>(month), static_cast<int32_t>(day)});
  civil_time.seconds = hour * 3600 + minute * 60 + second - offset;
  civil_time.nanos = nanos;
  civil_time.is_utc = has_offset;
  return true;
}

}  // namespace hr
