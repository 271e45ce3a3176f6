// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps as Python's datetime values, and back.
#include "python/bind/times.h"

#include "headrace/base/civil_date.h"

namespace {

constexpr int64_t kSecondsPerDay = 86'400;

nb::object numpy_time(hr::Dtype dtype, int64_t value) {
  const std::string name(dtype.is_date() ? "datetime64[D]" : dtype.name());
  const std::string unit = name.substr(11, name.size() - 12);
  return nb::module_::import_("numpy").attr("datetime64")(value, unit);
}

int64_t number(nb::handle value, const char* name) {
  return nb::cast<int64_t>(value.attr(name));
}

}  // namespace

nb::object python_time(hr::Dtype dtype, int64_t value) {
  int64_t days = value, second = 0, micro = 0;
  if (dtype.is_timestamp()) {
    if (dtype.unit() == hr::TimeUnit::kNano) return numpy_time(dtype, value);
    const int64_t units = hr::units_per_second(dtype.unit());
    const int64_t seconds = hr::floor_divide(value, units);
    micro = hr::floor_modulo(value, units) * (1'000'000 / units);
    days = hr::floor_divide(seconds, kSecondsPerDay);
    second = hr::floor_modulo(seconds, kSecondsPerDay);
  }
  constexpr int64_t kFirst = hr::days_from_civil({1, 1, 1});
  constexpr int64_t kLast = hr::days_from_civil({9999, 12, 31});
  if (days < kFirst || days > kLast) return numpy_time(dtype, value);
  const hr::CivilDate date = hr::civil_from_days(days);
  const nb::module_ datetime = nb::module_::import_("datetime");
  if (dtype.is_date()) return datetime.attr("date")(date.year, date.month, date.day);
  return datetime.attr("datetime")(date.year, date.month, date.day, second / 3600, second / 60 % 60,
                                   second % 60, micro);
}

TimeKind time_kind(nb::handle value) {
  const nb::module_ datetime = nb::module_::import_("datetime");
  if (nb::isinstance(value, datetime.attr("datetime"))) return TimeKind::kDatetime;
  if (nb::isinstance(value, datetime.attr("date"))) return TimeKind::kDate;
  return TimeKind::kNone;
}

std::optional<int64_t> time_from_python(nb::handle value, hr::Dtype dtype) {
  const TimeKind kind = time_kind(value);
  if (kind == TimeKind::kNone) return {};
  const int64_t days =
      hr::days_from_civil({number(value, "year"), static_cast<int32_t>(number(value, "month")),
                           static_cast<int32_t>(number(value, "day"))});
  int64_t seconds = 0, nanos = 0;
  if (kind == TimeKind::kDatetime) {
    if (!value.attr("tzinfo").is_none()) return {};
    seconds = number(value, "hour") * 3600 + number(value, "minute") * 60 + number(value, "second");
    nanos = number(value, "microsecond") * 1000;
    if (nb::hasattr(value, "nanosecond")) nanos += number(value, "nanosecond");  // pandas' own
  }
  if (dtype.is_date()) return seconds || nanos ? std::nullopt : std::optional(days);
  const int64_t units = hr::units_per_second(dtype.unit());
  const int64_t nanos_per_unit = 1'000'000'000 / units;
  int64_t result;
  if (nanos % nanos_per_unit != 0 ||
      __builtin_mul_overflow(days * kSecondsPerDay + seconds, units, &result) ||
      __builtin_add_overflow(result, nanos / nanos_per_unit, &result))
    return {};
  return result;
}
