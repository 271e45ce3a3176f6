// SPDX-License-Identifier: Apache-2.0
// Calendar fields.
#include "headrace/functions/temporal/calendar.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/base/civil_date.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/functions/temporal/calendar_arithmetic.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/view.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kNames[] = {"year",          "month",         "day",
                                       "day_of_year",   "days_in_month", "month_start",
                                       "quarter_start", "year_start"};

constexpr bool gives_date(DateField field) {
  return field >= DateField::kMonthStart;
}

int64_t first_day(int64_t year, int32_t month) {
  return days_from_civil({year, month, 1});
}

int64_t field_of(DateField field, int64_t days) {
  const CivilDate date = civil_from_days(days);
  switch (field) {
    case DateField::kYear:
      return date.year;
    case DateField::kMonth:
      return date.month;
    case DateField::kDay:
      return date.day;
    case DateField::kDayOfYear:
      return days - first_day(date.year, 1) + 1;
    case DateField::kDaysInMonth:
      return days_in_month(date.year, date.month);
    case DateField::kMonthStart:
      return days - date.day + 1;
    case DateField::kQuarterStart:
      return first_day(date.year, (date.month - 1) / 3 * 3 + 1);
    case DateField::kYearStart:
      return first_day(date.year, 1);
  }
  return 0;
}

void check(Dtype dtype) {
  if (!dtype.is_temporal())
    throw_error<TypeMismatchError>("dt", "expected a column of dates or timestamps",
                                   {{"dtype", dtype.name()}}, "use astype('date')");
}

Dtype dtype_of_field(DateField field) {
  return gives_date(field) ? TypeId::kDate : TypeId::kInt32;
}

int64_t units_a_day(Dtype dtype) {
  return dtype.is_date() ? 1 : 86'400 * units_per_second(dtype.unit());
}

// `put(row, day, of_day(day))` of each row; `of_day` is asked once a day where days come again.
template <class T, class OfDay, class Put>
void each_day(const T* values, int64_t a_day, Morsel morsel, OfDay&& of_day, Put&& put) {
  const auto day = [&](int64_t value) {
    return sizeof(T) == 4 ? value : floor_divide(value, a_day);  // a date is its day
  };
  const auto [least, most] = std::minmax_element(values + morsel.begin, values + morsel.end);
  const int64_t first = day(*least), last = day(*most);
  std::vector<int64_t> known;
  if (last - first < (morsel.end - morsel.begin) / 4)
    for (int64_t days = first; days <= last; ++days) known.push_back(of_day(days));
  for (int64_t row = morsel.begin; row < morsel.end; ++row) {
    const int64_t days = day(values[row]);
    put(row, days, known.empty() ? of_day(days) : known[static_cast<size_t>(days - first)]);
  }
}

}  // namespace

DateField date_field_from_name(std::string_view name) {
  return enum_from_name<DateField>("dt", "field", name, kNames);
}

Column date_field(const Column& column, DateField field) {
  check(column.dtype());
  const auto fields = [&](const auto* values) {
    return map_morsels<int32_t>(column, dtype_of_field(field), [&](Morsel morsel, int32_t* out) {
      each_day(
          values, units_a_day(column.dtype()), morsel,
          [&](int64_t days) { return field_of(field, days); },
          [&](int64_t row, int64_t, int64_t found) { out[row] = static_cast<int32_t>(found); });
    });
  };
  return column.dtype().is_date() ? fields(column.values<int32_t>().data())
                                  : fields(column.values<int64_t>().data());
}

namespace {

struct ExtractDateField final : OperatorOf<ExtractDateField> {
  DateField field{};

  std::string_view name() const override { return "dt"; }

  std::string arguments() const override { return std::string(kNames[static_cast<size_t>(field)]); }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return date_field(std::get<Column>(inputs[0]), field);
  }

  static auto parameters(auto& self) { return std::tie(self.field); }
};

}  // namespace

NodePtr date_field(const NodePtr& column, DateField field) {
  Signature signature = column->signature();
  check(signature.dtype);
  // Work that devices have no kernel for would leave them.
  if (!column->fields().place.is_host() && !signature.dtype.has_zone())
    return date_field_arithmetic(column, field);
  signature.dtype = dtype_of_field(field);
  return apply_operator(ExtractDateField::make(field), std::move(signature), {column});
}

namespace {

constexpr int64_t kMostMonths = 12'000'000'000'000;  // see civil_from_days

int64_t months_later(int64_t days, int64_t months) {
  CivilDate date = civil_from_days(days);
  const int64_t month = date.year * 12 + (date.month - 1) + months;
  date.year = floor_divide(month, 12);
  date.month = static_cast<int32_t>(floor_modulo(month, 12)) + 1;
  date.day = std::min(date.day, days_in_month(date.year, date.month));
  return days_from_civil(date);
}

template <class T>
Column add_months(const Column& column, int64_t months, int64_t units) {
  const int64_t a_day = units_a_day(column.dtype());
  const Nulls null(column);
  const T* const in = column.values<T>().data();
  return map_morsels<T>(column, column.dtype(), [&](Morsel morsel, T* out) {
    const auto put = [&](int64_t row, int64_t day, int64_t later) {
      const Int128 moved = in[row] + Int128{later - day} * a_day + units;
      out[row] = static_cast<T>(moved);
      if (out[row] != moved && !null(row))
        throw_error<InvalidArgumentError>(
            "add_months", "a time does not fit the dtype",
            {{"row", row}, {"value", int64_t{in[row]}}, {"dtype", column.dtype().name()}},
            "use astype with a coarser unit, or fewer months");
    };
    each_day(in, a_day, morsel, [&](int64_t days) { return months_later(days, months); }, put);
  });
}

struct AddMonths final : OperatorOf<AddMonths> {
  int64_t months = 0;
  int64_t units = 0;

  std::string_view name() const override { return "add_months"; }

  std::string arguments() const override {
    return std::to_string(months) + ", then " + std::to_string(units);
  }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& in = std::get<Column>(inputs[0]);
    return in.dtype().is_date() ? add_months<int32_t>(in, months, units)
                                : add_months<int64_t>(in, months, units);
  }

  static auto parameters(auto& self) { return std::tie(self.months, self.units); }
};

}  // namespace

NodePtr add_months(const NodePtr& column, int64_t months, int64_t units) {
  const Signature& signature = column->signature();
  const Dtype dtype = signature.dtype;
  check(dtype);
  if (dtype.has_zone())
    throw_error<TypeMismatchError>("add_months", "months cannot be added to times with a time zone",
                                   {{"dtype", dtype.name()}}, "use dt.tz_localize(None) first");
  if (months < -kMostMonths || months > kMostMonths)
    throw_error<InvalidArgumentError>("add_months", "too many months",
                                      {{"months", months}, {"most", kMostMonths}});
  return apply_operator(AddMonths::make(months, units), signature, {column});
}

namespace {

template <class T>
Column rescale_unit(const Column& column, int64_t factor, bool clamp) {
  const Nulls null(column);
  const T* const in = column.values<T>().data();
  return map_rows<int64_t>(column, TypeId::kInt64, [&, in](int64_t row) {
    int64_t finer;
    if (!__builtin_mul_overflow(int64_t{in[row]}, factor, &finer)) return finer;
    if (!clamp && !null(row))
      throw_error<InvalidArgumentError>(
          "astype", "a time is out of range of the finer unit",
          {{"row", row}, {"dtype", column.dtype().name()}, {"value", int64_t{in[row]}}},
          "cast the other side to the coarser unit with astype");
    return in[row] < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  });
}

struct FinerCounts final : OperatorOf<FinerCounts> {
  int64_t factor = 1;
  bool clamp = false;

  std::string_view name() const override { return "astype"; }

  std::string arguments() const override {
    return "times " + std::to_string(factor) + (clamp ? ", at most" : "");
  }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& in = std::get<Column>(inputs[0]);
    return in.dtype().is_date() ? rescale_unit<int32_t>(in, factor, clamp)
                                : rescale_unit<int64_t>(in, factor, clamp);
  }

  static auto parameters(auto& self) { return std::tie(self.factor, self.clamp); }
};

}  // namespace

NodePtr rescale_unit(const NodePtr& column, TimeUnit unit, bool clamp) {
  Signature signature = column->signature();
  const Dtype dtype = signature.dtype;
  const int64_t units = units_per_second(unit);
  if (!dtype.is_date() && !(dtype.has_unit() && units_per_second(dtype.unit()) <= units))
    throw_error<TypeMismatchError>("astype", "expected times or durations of a coarser unit",
                                   {{"dtype", dtype.name()}});
  const int64_t factor = dtype.is_date() ? 86'400 * units : units / units_per_second(dtype.unit());
  if (clamp && !column->fields().place.is_host()) return clamped_multiple(column, factor);
  signature.dtype = TypeId::kInt64;
  return apply_operator(FinerCounts::make(factor, clamp), std::move(signature), {column});
}

NodePtr counts_of_unit(const NodePtr& column, CountUnit unit, bool clamp) {
  const Signature& signature = column->signature();
  if (count_unit(signature.dtype) == unit) return retype(column, signature.dtype.storage());
  if (signature.shape.empty())
    throw_error<TypeMismatchError>("astype", "a single time cannot change its unit",
                                   {{"dtype", signature.dtype.name()}}, "use item() first");
  return rescale_unit(signature.form == Form::kTensor ? as_column(column) : column, *unit, clamp);
}

}  // namespace hr
