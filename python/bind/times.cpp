// SPDX-License-Identifier: Apache-2.0
// Dates, timestamps and durations as Python's datetime values, and back.
#include "python/bind/times.h"

#include "headrace/base/civil_date.h"
#include "headrace/base/error.h"

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

nb::object zones() {
  return nb::module_::import_("headrace.zone_names");
}

// `datetime` of `dtype.zone()` where `utc` is what clocks show in UTC.
nb::object in_zone(hr::Dtype dtype, const nb::object& utc) {
  const nb::object zone = zones().attr("zone_of")(nb::cast(std::string(dtype.zone())));
  return zone.attr("fromutc")(utc.attr("replace")("tzinfo"_a = zone));
}

[[noreturn]] void refuse_instant(hr::Dtype dtype, int64_t value) {
  hr::throw_error<hr::UnsupportedError>(
      "to_list", "Python's datetime cannot hold this time",
      {{"dtype", dtype.name()}, {"value", value}},
      "use dt.floor('us') or dt.tz_convert(None), or to_pandas() or to_arrow()");
}

nb::object python_duration(hr::Dtype dtype, int64_t value) {
  constexpr int64_t kMostDays = 999'999'999;  // of Python
  const int64_t units = hr::units_per_second(dtype.unit());
  const int64_t seconds = hr::floor_divide(value, units);
  const int64_t days = hr::floor_divide(seconds, kSecondsPerDay);
  if (dtype.unit() == hr::TimeUnit::kNano || days < -kMostDays || days > kMostDays) {
    const std::string name(dtype.name());
    const std::string unit = name.substr(12, name.size() - 13);
    return nb::module_::import_("numpy").attr("timedelta64")(value, unit);
  }
  const int64_t micro = hr::floor_modulo(value, units) * (1'000'000 / units);
  return nb::module_::import_("datetime")
      .attr("timedelta")(days, hr::floor_modulo(seconds, kSecondsPerDay), micro);
}

// So many of the dtype's units; none when they do not fit or a finer part is left.
std::optional<int64_t> units_of(int64_t seconds, int64_t nanos, hr::Dtype dtype) {
  const int64_t units = hr::units_per_second(dtype.unit());
  const int64_t nanos_per_unit = 1'000'000'000 / units;
  int64_t result;
  if (nanos % nanos_per_unit != 0 || __builtin_mul_overflow(seconds, units, &result) ||
      __builtin_add_overflow(result, nanos / nanos_per_unit, &result))
    return {};
  return result;
}

std::optional<int64_t> duration_from_python(nb::handle value, hr::Dtype dtype) {
  int64_t nanos = number(value, "microseconds") * 1000;
  if (nb::hasattr(value, "nanoseconds")) nanos += number(value, "nanoseconds");  // pandas' own
  return units_of(number(value, "days") * kSecondsPerDay + number(value, "seconds"), nanos, dtype);
}

}  // namespace

nb::object python_time(hr::Dtype dtype, int64_t value) {
  if (dtype.is_duration()) return python_duration(dtype, value);
  int64_t days = value, second = 0, micro = 0;
  if (dtype.is_timestamp()) {
    const bool nano = dtype.unit() == hr::TimeUnit::kNano;
    if (nano && !dtype.has_zone()) return numpy_time(dtype, value);
    if (nano && hr::floor_modulo(value, 1000) != 0) refuse_instant(dtype, value);
    if (nano) value = hr::floor_divide(value, 1000);
    const int64_t units = nano ? 1'000'000 : hr::units_per_second(dtype.unit());
    const int64_t seconds = hr::floor_divide(value, units);
    micro = hr::floor_modulo(value, units) * (1'000'000 / units);
    days = hr::floor_divide(seconds, kSecondsPerDay);
    second = hr::floor_modulo(seconds, kSecondsPerDay);
  }
  constexpr int64_t kFirst = hr::days_from_civil({1, 1, 1});
  constexpr int64_t kLast = hr::days_from_civil({9999, 12, 31});
  if (days < kFirst + dtype.has_zone() || days > kLast - dtype.has_zone()) {
    if (dtype.has_zone()) refuse_instant(dtype, value);
    return numpy_time(dtype, value);
  }
  const hr::CivilDate date = hr::civil_from_days(days);
  const nb::module_ datetime = nb::module_::import_("datetime");
  if (dtype.is_date()) return datetime.attr("date")(date.year, date.month, date.day);
  const nb::object made = datetime.attr("datetime")(date.year, date.month, date.day, second / 3600,
                                                    second / 60 % 60, second % 60, micro);
  return dtype.has_zone() ? in_zone(dtype, made) : made;
}

TimeKind time_kind(nb::handle value) {
  const nb::module_ datetime = nb::module_::import_("datetime");
  if (nb::isinstance(value, datetime.attr("datetime")))
    return value.attr("tzinfo").is_none() ? TimeKind::kDatetime : TimeKind::kInstant;
  if (nb::isinstance(value, datetime.attr("date"))) return TimeKind::kDate;
  if (nb::isinstance(value, datetime.attr("timedelta"))) return TimeKind::kTimedelta;
  return TimeKind::kNone;
}

std::string zone_from_python(nb::handle value) {
  return nb::cast<std::string>(zones().attr("name_of")(value.attr("tzinfo")));
}

std::optional<int64_t> time_from_python(nb::handle given, hr::Dtype dtype) {
  nb::object value = nb::borrow(given);
  TimeKind kind = time_kind(value);
  if ((kind == TimeKind::kInstant) != dtype.has_zone()) return {};
  if (kind == TimeKind::kInstant) {
    value = value.attr("astimezone")(nb::module_::import_("datetime").attr("timezone").attr("utc"));
    kind = TimeKind::kDatetime;
  }
  if (kind == TimeKind::kNone || (kind == TimeKind::kTimedelta) != dtype.is_duration()) return {};
  if (kind == TimeKind::kTimedelta) return duration_from_python(value, dtype);
  const int64_t days =
      hr::days_from_civil({number(value, "year"), static_cast<int32_t>(number(value, "month")),
                           static_cast<int32_t>(number(value, "day"))});
  int64_t seconds = 0, nanos = 0;
  if (kind == TimeKind::kDatetime) {
    seconds = number(value, "hour") * 3600 + number(value, "minute") * 60 + number(value, "second");
    nanos = number(value, "microsecond") * 1000;
    if (nb::hasattr(value, "nanosecond")) nanos += number(value, "nanosecond");  // pandas' own
  }
  if (dtype.is_date()) return seconds || nanos ? std::nullopt : std::optional(days);
  return units_of(days * kSecondsPerDay + seconds, nanos, dtype);
}
