// SPDX-License-Identifier: Apache-2.0
// Literals: times from text, and what errors say of a value.
#include "headrace/plan/bind/literal.h"

#include "headrace/algo/math/iso_time_math.h"
#include "headrace/base/civil_date.h"

#include <algorithm>

namespace hr {

namespace {

constexpr Int128 kNanos = 1'000'000'000;

// Years that the text of a time holds well; others are shown as nanoseconds.
constexpr Int128 kFarthest = Int128{300'000'000'000} * kNanos;

std::string text_of(const TimeLiteral& time) {
  const Int128 day = nanoseconds_per(CountUnit());
  if (time.nanoseconds < -kFarthest || time.nanoseconds > kFarthest) return "out of range";
  const Int128 rest = floor_modulo(time.nanoseconds, day);
  char buffer[kMaxIsoTime];
  std::string text(buffer,
                   write_iso_date(static_cast<int64_t>((time.nanoseconds - rest) / day), buffer));
  if (time.dtype.is_date()) return text;
  const auto seconds = static_cast<int64_t>(rest / kNanos);
  const auto nanos = static_cast<int64_t>(rest % kNanos);
  const auto add = [&](char before, int64_t number, size_t places) {
    const std::string digits = std::to_string(number);
    text += before + std::string(places - digits.size(), '0') + digits;
  };
  add(' ', seconds / 3600, 2);
  add(':', seconds / 60 % 60, 2);
  add(':', seconds % 60, 2);
  if (nanos) add('.', nanos, 9);
  return text + (time.dtype.has_zone() ? "Z" : "");
}

std::string text_of(Int128 number) {
  char digits[48];
  return {digits, write_decimal(number, 0, digits)};
}

Detail plain(std::string text) {
  Detail detail("value", 0);
  detail.value = std::move(text);
  return detail;
}

Detail detail_of_number(const Scalar& number) {
  if (number.is_null()) return plain("null");
  if (number.dtype().is_bool()) return plain(number.as<bool>() ? "True" : "False");
  if (number.dtype().is_floating()) return {"value", number.as<double>()};
  if (number.dtype().is_unsigned()) return {"value", number.as<uint64_t>()};
  return {"value", number.as<int64_t>()};
}

}  // namespace

CountUnit coarsest_unit(Int128 nanoseconds) {
  for (const CountUnit unit : {CountUnit(), CountUnit(TimeUnit::kSecond),
                               CountUnit(TimeUnit::kMilli), CountUnit(TimeUnit::kMicro)})
    if (nanoseconds % nanoseconds_per(unit) == 0) return unit;
  return TimeUnit::kNano;
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Text that is read from its beginning.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }

  bool skip(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_[0]) == any_of.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// As many digits as there are, none more than `most` counted in `number`.
  size_t digits(size_t most, int64_t& number) {
    size_t count = 0;
    for (number = 0; count < std::min(most, rest_.size()) && is_digit(rest_[count]); ++count)
      number = number * 10 + (rest_[count] - '0');
    rest_.remove_prefix(count);
    return count;
  }

  bool next_is_digit() const { return !rest_.empty() && is_digit(rest_[0]); }

 private:
  std::string_view rest_;
};

// "Www", "Www-D" or "WwwD" behind the year.
bool read_week(TextReader& in, int64_t year, bool dashes, int64_t& days) {
  int64_t week = 0, weekday = 1;
  if (in.digits(2, week) != 2 || week < 1 || week > 53) return false;
  TextReader ahead = in;
  int64_t digit = 0;
  if ((!dashes || ahead.skip("-")) && ahead.digits(2, digit) == 1) {
    weekday = digit;
    in = ahead;
  }
  const int64_t fourth = days_from_civil({year, 1, 4});  // in the first week
  const int64_t monday = fourth - floor_modulo(fourth + 3, 7) + (week - 1) * 7;
  days = monday + weekday - 1;
  return weekday >= 1 && weekday <= 7 && civil_from_days(monday + 3).year == year;
}

bool read_date(TextReader& in, int64_t& days) {
  int64_t year = 0, month = 0, day = 0;
  if (in.digits(4, year) != 4 || year == 0) return false;
  const bool dashes = in.skip("-");
  if (in.skip("W")) return read_week(in, year, dashes, days);
  if (in.digits(2, month) != 2 || dashes != in.skip("-") || in.digits(2, day) != 2) return false;
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, static_cast<int32_t>(month)))
    return false;
  days = days_from_civil({year, static_cast<int32_t>(month), static_cast<int32_t>(day)});
  return true;
}

// "HH", "HH:MM", "HH:MM:SS" and "HH:MM:SS.fraction", colons or none, as nanoseconds.
bool read_clock(TextReader& in, Int128& nanoseconds) {
  int64_t hours = 0, minutes = 0, seconds = 0, fraction = 0;
  if (in.digits(2, hours) != 2 || hours > 23) return false;
  const bool colons = in.skip(":");
  const auto next = [&](int64_t& part) { return in.digits(2, part) == 2 && part < 60; };
  if (colons || in.next_is_digit()) {
    if (!next(minutes)) return false;
    if (colons ? in.skip(":") : in.next_is_digit()) {
      if (!next(seconds)) return false;
      if (in.skip(".,")) {
        size_t places = in.digits(9, fraction);
        if (places == 0) return false;
        for (; places < 9; ++places) fraction *= 10;
        int64_t finer = 0;
        in.digits(in.rest().size(), finer);
      }
    }
  }
  nanoseconds = Int128{hours * 3600 + minutes * 60 + seconds} * kNanos + fraction;
  return true;
}

// "Z" or "+HH:MM", with all that a clock shows; `ahead` of UTC.
bool read_offset(TextReader& in, Int128& ahead) {
  in.skip(" ");
  ahead = 0;
  if (in.skip("Zz")) return true;
  const bool behind = in.skip("-");
  if ((!behind && !in.skip("+")) || !read_clock(in, ahead)) return false;
  if (behind) ahead = -ahead;
  return true;
}

// The instant at which clocks of the zone show a time: the first of two, and where they skip it the
// one that the offset before gives.
int64_t instant_of(Dtype zone, int64_t local) {
  const auto rules = timezone_rules("datetime", zone);
  ZoneClock clock(*rules);
  const auto [first, last] = clock.instants_of(local);
  return first <= last ? first : local - clock.offset_at(last);
}

}  // namespace

std::optional<TimeLiteral> time_from_text(std::string_view text, Dtype zone) {
  TextReader in(text);
  int64_t days = 0;
  Int128 clock = 0, ahead = 0;
  if (!read_date(in, days)) return {};
  if (!in.rest().empty()) {
    TextReader behind(in.rest().substr(1));  // any separator
    if (!read_clock(behind, clock)) return {};
    in = behind;
  }
  const bool has_offset = !in.rest().empty();
  if (has_offset && (!read_offset(in, ahead) || !in.rest().empty())) return {};
  TimeLiteral literal;
  literal.nanoseconds = Int128{days} * nanoseconds_per(CountUnit()) + clock - ahead;
  if (zone.has_zone() && !has_offset) {
    const auto local = static_cast<int64_t>((literal.nanoseconds - clock % kNanos) / kNanos);
    literal.nanoseconds += Int128{instant_of(zone, local) - local} * kNanos;
  }
  const CountUnit unit = coarsest_unit(literal.nanoseconds);
  if (zone.has_zone() || has_offset)
    literal.dtype =
        Dtype::timestamp(unit.value_or(TimeUnit::kSecond), zone.has_zone() ? zone.zone() : "UTC");
  else if (unit)
    literal.dtype = Dtype::timestamp(*unit);
  return literal;
}

Detail detail_of(const Literal& literal) {
  if (const auto* number = std::get_if<Scalar>(&literal)) return detail_of_number(*number);
  if (const auto* text = std::get_if<std::string>(&literal)) return {"value", *text};
  if (const auto* time = std::get_if<TimeLiteral>(&literal)) return {"value", text_of(*time)};
  if (const auto* span = std::get_if<DurationLiteral>(&literal))
    return plain(text_of(span->nanoseconds) + " ns");
  if (const auto* span = std::get_if<CalendarLiteral>(&literal))
    return plain(std::to_string(span->months) + " months and " + text_of(span->nanoseconds) +
                 " ns");
  return plain(std::get<DecimalLiteral>(literal).digits);
}

}  // namespace hr
