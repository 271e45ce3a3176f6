// SPDX-License-Identifier: Apache-2.0
// Which conversion a column takes on its way to times.
#include "headrace/frame/conversions.h"

#include "headrace/base/error.h"
#include "headrace/frame/apply.h"
#include "headrace/frame/astype.h"
#include "headrace/functions/cast/format_values.h"
#include "headrace/functions/cast/parse_numbers.h"
#include "headrace/functions/temporal/time_counts.h"
#include "headrace/functions/temporal/timezone.h"
#include "headrace/plan/bind/binder.h"
#include "headrace/plan/graph/array.h"
#include "headrace/plan/graph/view.h"

#include <algorithm>
#include <iterator>

namespace hr {

namespace {

constexpr std::string_view kTimes = "to_datetime", kSpans = "to_timedelta";

bool is_text(Dtype dtype) {
  return dtype.has_text();
}

bool is_number(Dtype dtype) {
  return dtype.is_integer() || dtype.is_floating();
}

int64_t nanoseconds_of(std::string_view op, const std::string& unit) {
  const std::string_view name = unit == "m" ? "min" : std::string_view(unit);
  const auto* const found = std::ranges::find(kPeriodUnits, name, &PeriodUnit::name);
  if (found != std::end(kPeriodUnits)) return found->nanoseconds;
  Detail given("unit", unit);
  if (unit.empty()) given.value = "None";
  throw_error<InvalidArgumentError>(op, "missing or unknown unit for numbers", {given},
                                    "expected 'D', 'h', 'min', 's', 'ms', 'us', 'ns'");
}

TimeUnit unit_of(int64_t nanoseconds) {
  return coarsest_unit(nanoseconds).value_or(TimeUnit::kSecond);
}

// NaN as null, for integers have no NaN.
NodePtr nan_as_null(const NodePtr& floats) {
  const NodePtr is_nan = elementwise(Op::kIsNan, {floats});
  const NodePtr is_there = elementwise(Op::kLogicalNot, {is_nan});
  const Literal null = Scalar::null(TypeId::kBool);
  const ApplyOperand operands[] = {{is_there, ""}, {floats, ""}, {null, ""}};
  return hr::apply(Op::kWhere, operands, NullRule::kMissingIsFalse);
}

struct Counted {
  NodePtr counts;
  TimeUnit unit;
};

// Numbers as integers of a unit of times; fractions are rounded to microseconds.
Counted counted(std::string_view op, const NodePtr& numbers, const std::string& unit) {
  int64_t step = nanoseconds_of(op, unit);
  NodePtr column = numbers;
  if (column->signature().dtype.is_floating()) {
    const double microseconds = std::max(static_cast<double>(step) / 1000, 1.0);
    const Array exact = Array(nan_as_null(cast(column, TypeId::kFloat64))) * microseconds;
    column = elementwise(Op::kRint, {exact});
    step = std::min<int64_t>(step, 1000);
  }
  const Array whole = astype(column, TypeId::kInt64);
  const int64_t own = std::min(step, kNanosecondsPerSecond);
  return {.counts = step > own ? whole * (step / own) : whole, .unit = unit_of(own)};
}

int64_t number_present(const NodePtr& column) {
  return Array(reduce(Aggregate::kCount, column)).item<int64_t>();
}

// Parsed in microseconds, or nanoseconds if a string needs them and fits them.
template <class Make>
NodePtr parse_by_values(const NodePtr& texts, const TimeConversion& how, Make&& dtype_with) {
  const auto parsed = [&](TimeUnit unit, bool or_null) {
    return parse_times(texts, how.format, dtype_with(unit), or_null);
  };
  const NodePtr whole = parsed(TimeUnit::kMicro, true);
  force(whole);
  if (number_present(whole) == number_present(texts)) return whole;
  const Array is_null = elementwise(Op::kIsNull, {whole});
  const Array is_fine = !Array(elementwise(Op::kIsNull, {parsed(TimeUnit::kNano, true)}));
  const bool any = Array(reduce(Aggregate::kAny, is_null & is_fine)).item<bool>();
  NodePtr result = parsed(any ? TimeUnit::kNano : TimeUnit::kMicro, how.or_null);
  force(result);
  return result;
}

[[noreturn]] void refuse(std::string_view op, std::string_view expected, Dtype dtype) {
  throw_error<TypeMismatchError>(op, expected, {{"dtype", dtype.name()}});
}

}  // namespace

NodePtr to_datetime(const NodePtr& column, const TimeConversion& how) {
  const std::optional<Dtype>& given = how.dtype;
  const bool in_utc = how.utc && !(given && given->has_zone());
  if (in_utc && given && !given->is_timestamp())
    throw_error<TypeMismatchError>(kTimes, "only timestamps have a time zone",
                                   {{"dtype", given->name()}}, "omit utc");
  const std::string zone(in_utc ? "UTC" : given ? given->zone() : std::string_view());
  const auto dtype_with = [&](TimeUnit unit) {
    return zone.empty() ? Dtype::timestamp(unit) : Dtype::timestamp(unit, zone);
  };
  const auto result = [&](TimeUnit unit) {
    return given ? (in_utc ? dtype_with(given->unit()) : *given) : dtype_with(unit);
  };
  const Dtype own = column->signature().dtype;
  if (!how.format.empty() && own.is_integer())
    return to_datetime(astype(column, TypeId::kString), how);
  if (is_text(own)) {
    if (!given) return parse_by_values(column, how, dtype_with);
    return parse_times(column, how.format, result(TimeUnit::kMicro), how.or_null);
  }
  if (is_number(own)) {
    const Counted numbers = counted(kTimes, column, how.unit);
    const TimeUnit unit = numbers.unit == TimeUnit::kNano ? TimeUnit::kNano : TimeUnit::kMicro;
    return astype(retype(numbers.counts, dtype_with(numbers.unit)), result(unit));
  }
  if (!own.is_temporal()) refuse(kTimes, "expected strings, numbers or times", own);
  if (!given && !how.utc && !own.is_date()) return column;
  const NodePtr times = zone.empty()     ? column
                        : own.has_zone() ? convert_zone(column, zone)
                                         : localize(column, zone);
  return astype(times, result(own.is_date() ? TimeUnit::kMicro : own.unit()));
}

NodePtr to_timedelta(const NodePtr& column, const TimeConversion& how) {
  const std::optional<Dtype>& given = how.dtype;
  const Dtype own = column->signature().dtype;
  if (is_text(own)) {
    if (!given)
      return parse_by_values(column, how, [](TimeUnit unit) { return Dtype::duration(unit); });
    return parse_times(column, "", *given, how.or_null);
  }
  if (is_number(own)) {
    const Counted numbers = counted(kSpans, column, how.unit);
    const bool fine = numbers.unit == TimeUnit::kNano;
    return astype(retype(numbers.counts, Dtype::duration(numbers.unit)),
                  given.value_or(Dtype::duration(fine ? TimeUnit::kNano : TimeUnit::kMicro)));
  }
  if (!own.is_duration()) refuse(kSpans, "expected strings, numbers or durations", own);
  return given ? astype(column, *given) : column;
}

NodePtr to_numeric(const NodePtr& column, bool or_null) {
  if (!is_text(column->signature().dtype)) return column;
  const NodePtr both[] = {parse_numbers(column, TypeId::kInt64, true),
                          parse_numbers(column, TypeId::kFloat64, or_null)};
  force(both);
  const bool all_whole = std::get<Column>(both[0]->value()).null_count() ==
                         std::get<Column>(both[1]->value()).null_count();
  return both[all_whole ? 0 : 1];
}

}  // namespace hr
