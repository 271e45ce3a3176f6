// SPDX-License-Identifier: Apache-2.0
// Multiples of a period, as arithmetic on counts.
#include "headrace/functions/temporal/round_times.h"

#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/functions/temporal/time_counts.h"
#include "headrace/functions/temporal/time_fields.h"

#include <algorithm>
#include <limits>
#include <string>

namespace hr {

namespace {

constexpr std::string_view kNames[] = {"floor", "ceil", "round"};
constexpr Int128 kLongest = std::numeric_limits<int64_t>::max();

struct CalendarStart {
  std::string_view name;
  TimeField field;
};

constexpr CalendarStart kStarts[] = {{"MS", TimeField::kMonthStart},
                                     {"QS", TimeField::kQuarterStart},
                                     {"YS", TimeField::kYearStart}};

constexpr std::string_view kUnitNames[] = {"s", "ms", "us", "ns"};

std::string_view name_of(CountUnit unit) {
  return unit ? kUnitNames[static_cast<size_t>(*unit)] : "D";
}

std::string_view name_of(Rounding rounding) {
  return kNames[static_cast<size_t>(rounding)];
}

void check(std::string_view op, Dtype dtype) {
  if (!dtype.is_temporal() && !dtype.is_duration())
    throw_error<TypeMismatchError>(op, "expected a column of dates, timestamps or durations",
                                   {{"dtype", dtype.name()}});
}

Detail nanoseconds_detail(std::string_view name, Int128 nanoseconds) {
  Detail detail(name, 0);
  detail.value = std::to_string(static_cast<int64_t>(nanoseconds)) + " ns";
  return detail;
}

[[noreturn]] void refuse_period(Rounding rounding, Dtype dtype, Detail given) {
  std::string fix = "expected a timedelta, or a number with one of D, h, min, s, ms, us, ns, as ";
  fix += rounding == Rounding::kFloor && dtype.is_temporal() ? "'15min', or MS, QS, YS" : "'15min'";
  throw_error<InvalidArgumentError>(name_of(rounding), "invalid period", {std::move(given)}, fix);
}

Array rounded(Rounding rounding, const Array& counts, int64_t by) {
  const Array rest = remainder(counts, by), below = counts - rest;
  if (rounding == Rounding::kFloor) return below;
  const auto one_more_where = [&](const Array& condition) {
    return below + Array(cast(condition, TypeId::kInt64)) * by;
  };
  if (rounding == Rounding::kCeil) return one_more_where(rest > 0);
  const Array left = Array(by) - rest;
  const Array is_odd = remainder(floor_divide(below, by), 2) == 1;
  const Array half = Array::elementwise(Op::kBitwiseAnd, {rest == left, is_odd});
  return one_more_where(Array::elementwise(Op::kBitwiseOr, {rest > left, half}));
}

// The nanoseconds of a period's text, capped; 0 where a part is unknown.
Int128 nanoseconds_of(std::string_view text) {
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  };
  Int128 total = 0;
  while (!text.empty()) {
    skip_blanks();
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    Int128 number = digits ? 0 : 1;
    for (const char digit : text.substr(0, digits))
      number = std::min(number * 10 + (digit - '0'), kLongest);
    text.remove_prefix(digits);
    skip_blanks();
    const auto* const unit = std::ranges::find_if(kPeriodUnits, [&](const PeriodUnit& each) {
      const size_t end = each.name.size();
      return text.starts_with(each.name) &&
             (end == text.size() || text[end] < 'a' || text[end] > 'z');
    });
    if (unit == std::end(kPeriodUnits)) return 0;
    text.remove_prefix(unit->name.size());
    total = std::min(total + number * unit->nanoseconds, kLongest);
  }
  return total;
}

NodePtr round_checked(Rounding rounding, const NodePtr& column, Int128 nanoseconds,
                      const LocalizeOptions& options) {
  const Dtype dtype = column->signature().dtype;
  const int64_t own = nanoseconds_per(count_unit(dtype));
  if (own % nanoseconds == 0) return column;
  const auto step = static_cast<int64_t>(std::min(nanoseconds, kLongest));
  if (nanoseconds > kLongest || step % own != 0) {
    throw_error<InvalidArgumentError>(
        name_of(rounding), "the period is not a multiple of the dtype's unit",
        {nanoseconds_detail("period", step), {"unit", name_of(count_unit(dtype))}},
        "use astype with a finer unit first");
  }
  const NodePtr local = dtype.has_zone() ? local_times(column) : column;
  const NodePtr result = times_from_counts(rounded(rounding, counts_from_times(local), step / own),
                                           local->signature().dtype);
  return dtype.has_zone() ? localize(result, dtype, options) : result;
}

}  // namespace

Rounding rounding_from_name(std::string_view name) {
  return enum_from_name<Rounding>("dt", "rounding", name, kNames);
}

std::optional<Int128> period_from_text(std::string_view text) {
  const Int128 nanoseconds = nanoseconds_of(text);
  return nanoseconds > 0 ? std::optional(nanoseconds) : std::nullopt;
}

NodePtr round_times(Rounding rounding, const NodePtr& column, Int128 nanoseconds,
                    const LocalizeOptions& options) {
  const Dtype dtype = column->signature().dtype;
  check(name_of(rounding), dtype);
  if (nanoseconds <= 0) refuse_period(rounding, dtype, nanoseconds_detail("freq", nanoseconds));
  return round_checked(rounding, column, nanoseconds, options);
}

NodePtr round_times(Rounding rounding, const NodePtr& column, std::string_view period,
                    const LocalizeOptions& options) {
  const Dtype dtype = column->signature().dtype;
  check(name_of(rounding), dtype);
  const auto* const start = std::ranges::find(kStarts, period, &CalendarStart::name);
  if (start != std::end(kStarts) && rounding == Rounding::kFloor && dtype.is_temporal())
    return time_field(column, start->field);
  const auto nanoseconds = period_from_text(period);
  if (!nanoseconds) refuse_period(rounding, dtype, {"freq", period});
  return round_checked(rounding, column, *nanoseconds, options);
}

}  // namespace hr
