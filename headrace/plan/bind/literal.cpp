// SPDX-License-Identifier: Apache-2.0
// Literals: times from text, and what errors say of a value.
#include "headrace/plan/bind/literal.h"

#include "headrace/algo/math/iso_time_math.h"
#include "headrace/base/civil_date.h"

#include <algorithm>
#include <charconv>
#include <cstring>

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

std::optional<TimeLiteral> time_from_text(std::string_view text, Dtype zone) {
  if (text.size() < 10 || text.size() > 40) return {};
  char buffer[2 * kMaxIsoTime] = {};
  std::copy(text.begin(), text.end(), buffer);
  const char* const end = buffer + text.size();
  IsoTime time = parse_iso_time(buffer);
  if (!time.end) return {};
  int64_t ahead;
  if (zone.has_zone() && time.end != end) {
    if (!time.has_time || parse_iso_offset(time.end, &ahead) != end) return {};
    time.seconds -= ahead;
  } else if (zone.has_zone() ? !to_instant(*timezone_rules("datetime", zone), time, end)
                             : time.end != end) {
    return {};
  }
  TimeLiteral literal;
  literal.nanoseconds = (Int128{time.days} * 86'400 + time.seconds) * kNanos + time.nanos;
  const CountUnit unit = coarsest_unit(literal.nanoseconds);
  if (zone.has_zone())
    literal.dtype = Dtype::timestamp(unit.value_or(TimeUnit::kSecond), zone.zone());
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
