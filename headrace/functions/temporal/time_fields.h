// SPDX-License-Identifier: Apache-2.0
// What the calendar and the clock say of times, and the components of durations.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string_view>

namespace hr {

enum class TimeField : uint8_t {
  // of dates and timestamps
  kYear,
  kMonth,  ///< 1 to 12
  kDay,    ///< 1 to 31
  kDayOfYear,
  kDaysInMonth,
  kMonthStart,  ///< the first day of its month, a date
  kQuarterStart,
  kYearStart,
  kQuarter,    ///< 1 to 4
  kDayOfWeek,  ///< 0 is Monday
  kHour,       ///< 0 of dates, as all that follow
  kMinute,
  kSecond,
  kMicrosecond,  ///< of the second
  kNanosecond,   ///< of the microsecond
  kDate,         ///< the day
  kIsMonthStart,
  kIsMonthEnd,
  kIsQuarterStart,
  kIsQuarterEnd,
  kIsYearStart,
  kIsYearEnd,
  kIsLeapYear,
  // of durations
  kDays,          ///< whole days, rounded down
  kSeconds,       ///< of the day
  kMicroseconds,  ///< of the second
  kNanoseconds,   ///< of the microsecond
  kTotalSeconds,  ///< with the fraction
};

/// "year", "day_of_week", "is_leap_year", "total_seconds" and so on; throws InvalidArgumentError
/// for another word.
HR_API TimeField time_field_from_name(std::string_view name);

/// A field of each date, timestamp or duration, null where it is; of timestamps with a zone by its
/// clocks. Fields of times are int32, dates or bools, components of durations int64 or float64.
/// Throws TypeMismatchError for a column that does not have the field.
HR_API NodePtr time_field(const NodePtr& column, TimeField field);

}  // namespace hr
