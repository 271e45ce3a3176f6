// SPDX-License-Identifier: Apache-2.0
// The calendar by a few operations on whole columns.
#include "headrace/functions/temporal/calendar_arithmetic.h"

#include "headrace/functions/temporal/time_counts.h"

#include <limits>

namespace hr {

namespace {

Array where(const Array& condition, const Array& then, const Array& otherwise) {
  return Array::elementwise(Op::kWhere, {condition, then, otherwise});
}

Array narrow(const Array& values) {
  return cast(values, TypeId::kInt32);
}

Array wide(const Array& values) {
  return cast(values, TypeId::kInt64);
}

// Neri and Schneider, "Euclidean affine functions and their application to calendar algorithms"
// (2023): centuries and years that begin in March, whose day tells month and day by one line. Few
// operations, so that a chain of them stays one pass.
class Calendar {
 public:
  explicit Calendar(const Array& days) : days_(days) {}

  Array field(DateField field) const {
    switch (field) {
      case DateField::kYear:
        return narrow(century_ * 100 + wide(year_of_century_ + narrow(day_of_year_ >= kJanuary)));
      case DateField::kMonth:
        return where(day_of_year_ >= kJanuary, month() - 12, month());
      case DateField::kDay:
        return day();
      case DateField::kDayOfYear:
        return day_from_january();
      case DateField::kDaysInMonth:
        return where(
            month() == 14, leap_day(1) + 28,
            31 - Array::elementwise(Op::kBitwiseAnd, {remainder(month() + 2, 5), Array(1)}));
      case DateField::kMonthStart:
        return narrow(days_ - wide(day()) + 1);
      case DateField::kQuarterStart:
        return narrow(days_ - wide(days_into_quarter()));
      case DateField::kYearStart:
        return narrow(days_ - wide(day_from_january()) + 1);
    }
    return days_;
  }

 private:
  static constexpr int32_t kJanuary = 306;  // its first day, from March the 1st

  // 3 to 14: March to February.
  Array month() const { return floor_divide(line_, 65'536); }

  Array day() const { return floor_divide(remainder(line_, 65'536), 2'141) + 1; }

  // 1 where the year that begins in March `later` years later begins in a leap year.
  Array leap_day(int32_t later) const {
    const Array of_four = remainder(year_of_century_ + later, 4) == 0;
    const Array is_century = remainder(year_of_century_ + later, 100) == 0;
    const Array of_centuries =
        Array::elementwise(Op::kBitwiseOr, {!is_century, remainder(century_ + later, 4) == 0});
    return narrow(Array::elementwise(Op::kBitwiseAnd, {of_four, of_centuries}));
  }

  Array day_from_january() const {
    return where(day_of_year_ >= kJanuary, day_of_year_ - (kJanuary - 1),
                 day_of_year_ + leap_day(0) + 60);
  }

  Array days_into_quarter() const {
    const Array past = day_of_year_;
    const Array in_autumn =
        where(past < 214, past - 122, where(past < kJanuary, past - 214, past - kJanuary));
    return where(past < 31, past + leap_day(0) + 59, where(past < 122, past - 31, in_autumn));
  }

  Array days_;
  Array quarters_ = (days_ + 719'468) * 4 + 3;  // of days, since March the 1st of the year 0
  Array century_ = floor_divide(quarters_, 146'097);
  Array quarters_of_century_ = floor_divide(narrow(remainder(quarters_, 146'097)), 4) * 4 + 3;
  Array year_of_century_ = floor_divide(quarters_of_century_, 1'461);
  Array day_of_year_ = floor_divide(remainder(quarters_of_century_, 1'461), 4);
  Array line_ = day_of_year_ * 2'141 + 197'913;
};

}  // namespace

NodePtr date_field_arithmetic(const NodePtr& times, DateField field) {
  const Dtype dtype = times->signature().dtype;
  Array days = counts_from_times(times);
  if (!dtype.is_date()) days = floor_divide(days, 86'400 * units_per_second(dtype.unit()));
  const Array found = Calendar(days).field(field);
  return field >= DateField::kMonthStart ? retype(found, TypeId::kDate) : NodePtr(found);
}

NodePtr clamped_multiple(const NodePtr& times, int64_t factor) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Array counts = counts_from_times(times);
  return where(counts > kMost / factor, Array(kMost),
               where(counts < kLeast / factor, Array(kLeast), counts * factor));
}

}  // namespace hr
