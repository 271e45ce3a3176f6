// SPDX-License-Identifier: Apache-2.0
// Constants of C++ as literals: text, dates, durations.
#pragma once
#include "headrace/base/error.h"
#include "headrace/plan/bind/literal.h"

#include <chrono>
#include <concepts>
#include <ratio>
#include <string>
#include <string_view>

namespace hr {

/// A string; next to dates and times the one that it names.
inline Literal as_literal(std::string_view text) {
  return std::string(text);
}

/// A date, also of `std::chrono::sys_days`. Throws InvalidArgumentError for a day that no month
/// has.
inline Literal as_literal(std::chrono::year_month_day date) {
  if (!date.ok())
    throw_error<InvalidArgumentError>("date", "no such day",
                                      {{"year", static_cast<int>(date.year())},
                                       {"month", static_cast<unsigned>(date.month())},
                                       {"day", static_cast<unsigned>(date.day())}});
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return TimeLiteral{.nanoseconds = Int128{days} * nanoseconds_per(CountUnit())};
}

/// An exact number of nanoseconds; months and years, which differ in length, are a CalendarLiteral.
template <std::integral Number, class Period>
  requires(std::ratio_divide<Period, std::nano>::den == 1 &&
           !std::same_as<Period, std::chrono::months::period> &&
           !std::same_as<Period, std::chrono::years::period>)
Literal as_literal(std::chrono::duration<Number, Period> duration) {
  return DurationLiteral{Int128{duration.count()} * std::ratio_divide<Period, std::nano>::num};
}

inline Literal as_literal(TimeLiteral time) {
  return time;
}

inline Literal as_literal(DurationLiteral duration) {
  return duration;
}

inline Literal as_literal(CalendarLiteral span) {
  return span;
}

inline Literal as_literal(DecimalLiteral decimal) {
  return decimal;
}

template <class T>
concept LiteralValue = requires(const T& value) { as_literal(value); };

}  // namespace hr
