// SPDX-License-Identifier: Apache-2.0
// What the calendar says of dates and timestamps.
#pragma once
#include "headrace/plan/bind/literal.h"
#include "headrace/plan/graph/node.h"

#include <string_view>

namespace hr {

enum class DateField : uint8_t {
  kYear,
  kMonth,        ///< 1 to 12
  kDay,          ///< 1 to 31
  kDayOfYear,    ///< 1 to 366
  kDaysInMonth,  ///< 28 to 31
  kMonthStart,   ///< the first day of its month, a date
  kQuarterStart,
  kYearStart,
};

/// "year", "month", "day", "day_of_year", "days_in_month", "month_start", "quarter_start",
/// "year_start"; throws InvalidArgumentError for another word.
HR_API DateField date_field_from_name(std::string_view name);

/// A field of each date or timestamp, null where it is: int32, or a date for the starts. About 3 ns
/// a row and core; of a column on a device it is part of a fused kernel. Throws TypeMismatchError
/// for another dtype.
HR_API Column date_field(const Column& column, DateField field);
HR_API NodePtr date_field(const NodePtr& column, DateField field);

/// Dates or timestamps shifted by a number of months of the calendar (a day that the month does not
/// have is its last one), then by a number of days or units of the column; null stays null. About
/// 10 ns a row and core. Throws InvalidArgumentError with the row of a time that does not fit the
/// dtype; TypeMismatchError for another dtype, and for timestamps with a zone (see
/// local_times).
HR_API NodePtr add_months(const NodePtr& column, int64_t months, int64_t units);

/// Dates, timestamps or durations as int64 counts of a finer unit. What does not fit is the least
/// or the greatest count with `clamp`, which keeps comparisons right, else InvalidArgumentError
/// with its row. Throws TypeMismatchError for another dtype, and for a coarser unit.
HR_API NodePtr rescale_unit(const NodePtr& column, TimeUnit unit, bool clamp);

/// The same for the unit of a binder's answer: days as they are kept, if they are what it counts.
HR_API NodePtr counts_of_unit(const NodePtr& column, CountUnit unit, bool clamp);

}  // namespace hr
