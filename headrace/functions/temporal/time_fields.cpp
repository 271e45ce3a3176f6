// SPDX-License-Identifier: Apache-2.0
// Fields of times by one table: the calendar's, parts of the clock, and tests made of them.
#include "headrace/functions/temporal/time_fields.h"

#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/functions/temporal/time_counts.h"
#include "headrace/functions/temporal/timezone.h"

#include <algorithm>
#include <iterator>

namespace hr {

namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000, kNanosPerMinute = 60 * kNanosPerSecond,
                  kNanosPerHour = 60 * kNanosPerMinute, kNanosPerDay = 24 * kNanosPerHour;

enum class Rule : uint8_t {
  kCalendar,   // a DateField of the same place
  kClock,      // the number of whole steps, modulo a count
  kComponent,  // the same of durations
  kDerived,
};

struct FieldRow {
  TimeField field;
  std::string_view name;
  Rule rule;
  int64_t step = 0;   // nanoseconds
  int64_t count = 0;  // 0: all
};

using enum TimeField;

constexpr FieldRow kTable[] = {
    {kYear, "year", Rule::kCalendar},
    {kMonth, "month", Rule::kCalendar},
    {kDay, "day", Rule::kCalendar},
    {kDayOfYear, "day_of_year", Rule::kCalendar},
    {kDaysInMonth, "days_in_month", Rule::kCalendar},
    {kMonthStart, "month_start", Rule::kCalendar},
    {kQuarterStart, "quarter_start", Rule::kCalendar},
    {kYearStart, "year_start", Rule::kCalendar},
    {kQuarter, "quarter", Rule::kDerived},
    {kDayOfWeek, "day_of_week", Rule::kDerived},
    {kHour, "hour", Rule::kClock, kNanosPerHour, 24},
    {kMinute, "minute", Rule::kClock, kNanosPerMinute, 60},
    {kSecond, "second", Rule::kClock, kNanosPerSecond, 60},
    {kMicrosecond, "microsecond", Rule::kClock, 1000, 1'000'000},
    {kNanosecond, "nanosecond", Rule::kClock, 1, 1000},
    {kDate, "date", Rule::kDerived},
    {kIsMonthStart, "is_month_start", Rule::kDerived},
    {kIsMonthEnd, "is_month_end", Rule::kDerived},
    {kIsQuarterStart, "is_quarter_start", Rule::kDerived},
    {kIsQuarterEnd, "is_quarter_end", Rule::kDerived},
    {kIsYearStart, "is_year_start", Rule::kDerived},
    {kIsYearEnd, "is_year_end", Rule::kDerived},
    {kIsLeapYear, "is_leap_year", Rule::kDerived},
    {kDays, "days", Rule::kComponent, kNanosPerDay, 0},
    {kSeconds, "seconds", Rule::kComponent, kNanosPerSecond, 86'400},
    {kMicroseconds, "microseconds", Rule::kComponent, 1000, 1'000'000},
    {kNanoseconds, "nanoseconds", Rule::kComponent, 1, 1000},
    {kTotalSeconds, "total_seconds", Rule::kDerived},
};
static_assert([] {
  for (size_t k = 0; k < std::size(kTable); ++k)
    if (kTable[k].field != static_cast<TimeField>(k)) return false;
  return static_cast<uint8_t>(DateField::kYearStart) == static_cast<uint8_t>(kYearStart);
}());

const FieldRow& row_of(TimeField field) {
  return kTable[static_cast<size_t>(field)];
}

void check(Dtype dtype, const FieldRow& row) {
  const bool of_durations = row.field >= kDays;
  if (of_durations ? dtype.is_duration() : dtype.is_temporal()) return;
  throw_error<TypeMismatchError>(
      "dt",
      of_durations ? "expected a column of durations" : "expected a column of dates or timestamps",
      {{"field", row.name}, {"dtype", dtype.name()}}, of_durations ? "" : "use astype('date')");
}

// Whole steps of nanoseconds in each count, modulo `count`.
Array clock_part(const NodePtr& times, int64_t step, int64_t count) {
  const int64_t own = nanoseconds_per(count_unit(times->signature().dtype));
  Array steps = counts_from_times(times);
  if (step >= own)
    steps = floor_divide(steps, step / own);
  else
    steps = steps * (count ? own / step % count : own / step);
  return count ? remainder(steps, count) : steps;
}

NodePtr derived(const NodePtr& times, TimeField field) {
  const auto part = [&](TimeField wanted) { return Array(time_field(times, wanted)); };
  const auto both = [](const Array& a, const Array& b) {
    return Array::elementwise(Op::kBitwiseAnd, {a, b});
  };
  const Dtype dtype = times->signature().dtype;
  const int64_t own = nanoseconds_per(count_unit(dtype));
  const auto days = [&] { return floor_divide(counts_from_times(times), kNanosPerDay / own); };
  switch (field) {
    case kQuarter:
      return floor_divide(part(kMonth) + 2, 3);
    case kDayOfWeek:  // 1970-01-01 was a Thursday
      return cast(remainder(days() + 3, 7), TypeId::kInt32);
    case kDate:
      return dtype.is_date() ? times : times_from_counts(days(), TypeId::kDate);
    case kIsMonthStart:
      return part(kDay) == 1;
    case kIsMonthEnd:
      return part(kDay) == part(kDaysInMonth);
    case kIsQuarterStart:
      return both(part(kIsMonthStart), remainder(part(kMonth), 3) == 1);
    case kIsQuarterEnd:
      return both(part(kIsMonthEnd), remainder(part(kMonth), 3) == 0);
    case kIsYearStart:
      return both(part(kIsMonthStart), part(kMonth) == 1);
    case kIsYearEnd:
      return both(part(kIsMonthEnd), part(kMonth) == 12);
    case kIsLeapYear: {
      const Array year = part(kYear);
      const Array of_centuries = Array::elementwise(
          Op::kBitwiseOr, {remainder(year, 100) != 0, remainder(year, 400) == 0});
      return both(remainder(year, 4) == 0, of_centuries);
    }
    default:
      return counts_from_times(times) / (kNanosPerSecond / own);
  }
}

}  // namespace

TimeField time_field_from_name(std::string_view name) {
  const auto* const row = std::ranges::find(kTable, name, &FieldRow::name);
  if (row != std::end(kTable)) return row->field;
  throw_error<InvalidArgumentError>("dt", "unknown field", {{"field", name}});
}

NodePtr time_field(const NodePtr& column, TimeField field) {
  const FieldRow& row = row_of(field);
  const Dtype dtype = column->signature().dtype;
  check(dtype, row);
  const NodePtr times = dtype.has_zone() ? local_times(column) : column;
  switch (row.rule) {
    case Rule::kCalendar:
      return date_field(times, static_cast<DateField>(field));
    case Rule::kClock:
      return cast(clock_part(times, row.step, row.count), TypeId::kInt32);
    case Rule::kComponent:
      return clock_part(times, row.step, row.count);
    case Rule::kDerived:
      break;
  }
  return derived(times, field);
}

}  // namespace hr
