// SPDX-License-Identifier: Apache-2.0
// Times and durations: fields, rounding, zones, and conversions to them.
#include "python/bind/bind.h"

#include "headrace/data/timezone_rules.h"
#include "headrace/frame/conversions.h"
#include "headrace/functions/cast/format_values.h"
#include "headrace/functions/temporal/round_times.h"
#include "headrace/functions/temporal/time_fields.h"
#include "headrace/functions/temporal/timezone.h"

#include <nanobind/stl/variant.h>

#include <utility>
#include <variant>

using hr::NodePtr;

namespace {

// Seconds and nanoseconds of a timedelta.
using Span = std::pair<int64_t, int64_t>;

hr::Int128 nanoseconds_from(const Span& span) {
  return hr::Int128{span.first} * 1'000'000'000 + span.second;
}

// Words are checked where they matter.
hr::LocalizeOptions options_of(bool matter, const std::variant<NodePtr, std::string>& ambiguous,
                               const std::variant<Span, std::string>& nonexistent) {
  hr::LocalizeOptions options;
  if (!matter) return options;
  if (const auto* word = std::get_if<std::string>(&ambiguous))
    options.ambiguous = hr::ambiguous_from_name(*word);
  else
    options.is_summer_time = std::get<NodePtr>(ambiguous);
  if (const auto* word = std::get_if<std::string>(&nonexistent))
    options.nonexistent = hr::nonexistent_from_name(*word);
  else
    options.shift = nanoseconds_from(std::get<Span>(nonexistent));
  return options;
}

std::optional<hr::Dtype> dtype_from(const std::optional<std::string>& name) {
  return name ? std::optional(hr::dtype_from_name(*name)) : std::nullopt;
}

}  // namespace

void bind_temporal(nb::module_& m) {
  m.def(
      "time_field",
      [](const NodePtr& column, std::string_view field) {
        mark("dt");
        const GilReleased released;
        return hr::time_field(column, hr::time_field_from_name(field));
      },
      "column"_a, "field"_a);
  m.def(
      "round_times",
      [](std::string_view rounding, const NodePtr& column,
         const std::variant<Span, std::string>& period,
         const std::variant<NodePtr, std::string>& ambiguous,
         const std::variant<Span, std::string>& nonexistent) {
        mark("dt");
        const GilReleased released;
        const hr::Rounding how = hr::rounding_from_name(rounding);
        const hr::LocalizeOptions options =
            options_of(column->signature().dtype.has_zone(), ambiguous, nonexistent);
        if (const auto* text = std::get_if<std::string>(&period))
          return hr::round_times(how, column, *text, options);
        return hr::round_times(how, column, nanoseconds_from(std::get<Span>(period)), options);
      },
      "rounding"_a, "column"_a, "period"_a, "ambiguous"_a = "raise", "nonexistent"_a = "raise");
  m.def(
      "localize",
      [](const NodePtr& local, std::string_view zone,
         const std::variant<NodePtr, std::string>& ambiguous,
         const std::variant<Span, std::string>& nonexistent) {
        mark("tz_localize");
        const GilReleased released;
        const hr::Dtype dtype = local->signature().dtype;
        const bool matter = dtype.is_timestamp() && !dtype.has_zone() && !zone.empty();
        return hr::localize(local, zone, options_of(matter, ambiguous, nonexistent));
      },
      "local"_a, "zone"_a, "ambiguous"_a, "nonexistent"_a);
  m.def(
      "format_times",
      [](const NodePtr& column, const std::string& pattern) {
        mark("strftime");
        const GilReleased released;
        return hr::format_times(column, pattern);
      },
      "column"_a, "pattern"_a);
  m.def(
      "to_datetime",
      [](const NodePtr& column, std::string format, bool or_null, std::string unit,
         const std::optional<std::string>& dtype, bool utc) {
        return hr::to_datetime(
            column, {std::move(format), or_null, std::move(unit), dtype_from(dtype), utc});
      },
      "column"_a, "format"_a, "or_null"_a, "unit"_a, "dtype"_a, "utc"_a, Unlocked());
  m.def(
      "to_timedelta",
      [](const NodePtr& column, bool or_null, std::string unit,
         const std::optional<std::string>& dtype) {
        return hr::to_timedelta(column, {"", or_null, std::move(unit), dtype_from(dtype)});
      },
      "column"_a, "or_null"_a, "unit"_a, "dtype"_a, Unlocked());
  m.def("to_numeric", &hr::to_numeric, "column"_a, "or_null"_a, Unlocked());
  m.def("convert_zone", lazy(&hr::convert_zone), "instants"_a, "zone"_a, Unlocked());
  m.def(
      "set_timezone_rules",
      [](std::string_view dtype, std::vector<int64_t> changes, std::vector<int32_t> offsets) {
        hr::set_timezone_rules(hr::dtype_from_name(dtype),
                               {std::move(changes), std::move(offsets)});
      },
      "dtype"_a, "changes"_a, "offsets"_a);
}
