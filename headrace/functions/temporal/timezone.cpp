// SPDX-License-Identifier: Apache-2.0
// Instants and local times by the rules of a zone.
#include "headrace/functions/temporal/timezone.h"

#include "headrace/algo/select/map_rows.h"
#include "headrace/base/civil_date.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/functions/temporal/time_counts.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kAmbiguous[] = {"raise", "NaT", "earliest", "latest", "infer"};
constexpr std::string_view kNonexistent[] = {"raise", "NaT", "shift_forward", "shift_backward"};
constexpr std::string_view kConvert = "tz_convert", kLocalize = "tz_localize";
constexpr int64_t kFarthest = int64_t{1} << 60;  // seconds that can be added to without a thought

std::string clock_text(int64_t local) {
  const int64_t days = floor_divide(local, 86'400);
  const auto second = static_cast<int>(floor_modulo(local, 86'400));
  const CivilDate date = civil_from_days(days);
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02d-%02d %02d:%02d:%02d",
                static_cast<long long>(date.year), date.month, date.day, second / 3600,
                second / 60 % 60, second % 60);
  return text;
}

[[noreturn]] void refuse_far(std::string_view op, int64_t row, int64_t value) {
  throw_error<InvalidArgumentError>(op, "a time is out of range after the conversion",
                                    {{"row", row}, {"value", value}}, "use a coarser unit");
}

// `seconds` of a zone's offset later, in units.
int64_t moved(std::string_view op, int64_t row, int64_t value, int64_t seconds, int64_t units) {
  int64_t result;
  if (__builtin_add_overflow(value, seconds * units, &result)) refuse_far(op, row, value);
  return result;
}

int64_t seconds_of(std::string_view op, int64_t row, int64_t value, int64_t units) {
  const int64_t seconds = floor_divide(value, units);
  if (seconds < -kFarthest || seconds > kFarthest) refuse_far(op, row, value);
  return seconds;
}

void check_local(Dtype local, Dtype zoned) {
  if (!local.is_timestamp() || local.has_zone() || !zoned.has_zone() ||
      local.unit() != zoned.unit())
    throw_error<TypeMismatchError>(kLocalize, "expected a column of timestamps without a time zone",
                                   {{"dtype", local.name()}, {"to", zoned.name()}},
                                   local.has_zone() ? "use dt.tz_convert" : "");
}

struct Choice {
  Ambiguous ambiguous;
  Nonexistent nonexistent;
};

// The instant of a local time in units; false where it becomes null.
bool instant_of(int64_t row, int64_t value, Dtype zoned, Choice choice, const ZoneClock& clock,
                int64_t* instant) {
  const int64_t units = units_per_second(zoned.unit());
  const int64_t local = seconds_of(kLocalize, row, value, units);
  const auto [first, last] = clock.instants_of(local);
  int64_t second = first;
  if (first < last) {
    if (choice.ambiguous == Ambiguous::kNull) return false;
    if (choice.ambiguous == Ambiguous::kRaise)
      throw_error<InvalidArgumentError>(
          kLocalize, "ambiguous local time: clocks show it twice",
          {{"row", row}, {"time", clock_text(local)}, {"zone", zoned.zone()}},
          "pass ambiguous='earliest', 'latest' or 'NaT'");
    if (choice.ambiguous == Ambiguous::kLatest) second = last;
  } else if (first > last) {
    if (choice.nonexistent == Nonexistent::kNull) return false;
    if (choice.nonexistent == Nonexistent::kRaise)
      throw_error<InvalidArgumentError>(
          kLocalize, "nonexistent local time: clocks skip it",
          {{"row", row}, {"time", clock_text(local)}, {"zone", zoned.zone()}},
          "pass nonexistent='shift_forward', 'shift_backward' or 'NaT'");
    if (__builtin_mul_overflow(first, units, instant)) refuse_far(kLocalize, row, value);
    *instant -= choice.nonexistent == Nonexistent::kBackward;
    return true;
  }
  *instant = moved(kLocalize, row, value, second - local, units);
  return true;
}

}  // namespace

Ambiguous ambiguous_from_name(std::string_view name) {
  return enum_from_name<Ambiguous>(kLocalize, "ambiguous", name, kAmbiguous);
}

Nonexistent nonexistent_from_name(std::string_view name) {
  return enum_from_name<Nonexistent>(kLocalize, "nonexistent", name, kNonexistent);
}

Column local_times(const Column& instants) {
  const Dtype dtype = instants.dtype();
  const auto rules = timezone_rules(kConvert, dtype);
  const int64_t units = units_per_second(dtype.unit());
  const Nulls null(instants);
  const int64_t* const in = instants.values<int64_t>().data();
  return map_rows<int64_t>(
      instants, Dtype::timestamp(dtype.unit()),
      [&null, in, units, clock = ZoneClock(*rules)](int64_t row) mutable -> int64_t {
        if (null(row)) return 0;
        const int64_t second = seconds_of(kConvert, row, in[row], units);
        return moved(kConvert, row, in[row], clock.offset_at(second), units);
      });
}

namespace {

struct ToLocalTimes final : OperatorOf<ToLocalTimes> {
  std::string_view name() const override { return kConvert; }

  std::string arguments() const override { return "local"; }

  Value execute(std::span<const Value> inputs) const override {
    return local_times(std::get<Column>(inputs[0]));
  }
};

struct LocalizeTimes final : OperatorOf<LocalizeTimes> {
  Dtype zoned{};
  Ambiguous ambiguous{};
  Nonexistent nonexistent{};

  std::string_view name() const override { return kLocalize; }

  std::string arguments() const override {
    return std::string(kAmbiguous[static_cast<size_t>(ambiguous)]) + ", " +
           std::string(kNonexistent[static_cast<size_t>(nonexistent)]);
  }

  Value execute(std::span<const Value> inputs) const override {
    return localize(std::get<Column>(inputs[0]), zoned, ambiguous, nonexistent);
  }

  static auto parameters(auto& self) {
    return std::tie(self.zoned, self.ambiguous, self.nonexistent);
  }
};

}  // namespace

NodePtr local_times(const NodePtr& instants) {
  Signature signature = instants->signature();
  timezone_rules(kConvert, signature.dtype);
  signature.dtype = Dtype::timestamp(signature.dtype.unit());
  return apply_operator(ToLocalTimes::make(), std::move(signature), {instants});
}

namespace {

struct Run {
  int64_t begin;
  int64_t end;
};

// Where the rows from `begin` on that two instants may be meant by end.
int64_t end_of_run(const int64_t* first, const int64_t* last, const Nulls& null, int64_t begin,
                   int64_t rows) {
  int64_t end = begin;
  while (end < rows && !null(end) && first[end] != last[end]) ++end;
  return end;
}

// The row from which on a run of ambiguous times has their second occurrences: local times
// increase, so it starts with the only step back.
int64_t second_half(const int64_t* first, int64_t begin, int64_t end) {
  int64_t steps_back = 0, half = end;
  for (int64_t row = begin + 1; row < end; ++row) {
    if (first[row] > first[row - 1]) continue;
    if (steps_back++ == 0) half = row;
  }
  if (steps_back == 1) return half;
  throw_error<InvalidArgumentError>(
      kLocalize, "ambiguous times cannot be inferred from their order",
      {{"row", begin}, {"rows", end - begin}, {"steps_back", steps_back}},
      "pass ambiguous='earliest', 'latest', 'NaT' or a series of bools");
}

Column localize_inferred(const Column& local, Dtype zoned, Nonexistent nonexistent) {
  const Column earliest = localize(local, zoned, Ambiguous::kEarliest, nonexistent);
  const Column latest = localize(local, zoned, Ambiguous::kLatest, nonexistent);
  const int64_t rows = earliest.num_rows();
  const Nulls null(earliest);
  const int64_t* const first = earliest.values<int64_t>().data();
  const int64_t* const last = latest.values<int64_t>().data();
  std::vector<Run> later;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t end = end_of_run(first, last, null, row, rows);
    if (end == row) continue;
    later.push_back({.begin = second_half(first, row, end), .end = end});
    row = end;
  }
  if (later.empty()) return earliest;
  return map_morsels<int64_t>(earliest, zoned, [&](Morsel morsel, int64_t* out) {
    std::copy(first + morsel.begin, first + morsel.end, out + morsel.begin);
    for (const Run& run : later)
      for (int64_t row = std::max(run.begin, morsel.begin); row < std::min(run.end, morsel.end);
           ++row)
        out[row] = last[row];
  });
}

}  // namespace

Column localize(const Column& local, Dtype zoned, Ambiguous ambiguous, Nonexistent nonexistent) {
  check_local(local.dtype(), zoned);
  if (ambiguous == Ambiguous::kInfer) return localize_inferred(local, zoned, nonexistent);
  const auto rules = timezone_rules(kLocalize, zoned);
  const Nulls null(local);
  const int64_t* const in = local.values<int64_t>().data();
  const Choice choice{ambiguous, nonexistent};
  const ZoneClock clock(*rules);
  if (ambiguous == Ambiguous::kNull || nonexistent == Nonexistent::kNull)
    return map_rows_or_null<int64_t>(local, zoned, [&](int64_t row, int64_t* instant) {
      return instant_of(row, in[row], zoned, choice, clock, instant);
    });
  return map_rows<int64_t>(local, zoned, [&](int64_t row) {
    int64_t instant = 0;
    if (!null(row)) instant_of(row, in[row], zoned, choice, clock, &instant);
    return instant;
  });
}

NodePtr localize(const NodePtr& local, Dtype zoned, Ambiguous ambiguous, Nonexistent nonexistent) {
  Signature signature = local->signature();
  check_local(signature.dtype, zoned);
  timezone_rules(kLocalize, zoned);
  signature.dtype = zoned;
  signature.nullable |= ambiguous == Ambiguous::kNull || nonexistent == Nonexistent::kNull;
  return apply_operator(LocalizeTimes::make(zoned, ambiguous, nonexistent), std::move(signature),
                        {local});
}

namespace {

// Times that clocks skip, moved.
NodePtr shift_skipped(const NodePtr& local, Dtype zoned, Int128 nanoseconds) {
  const auto own = nanoseconds_per(count_unit(zoned));
  const Int128 rest = (nanoseconds % own + own) % own;
  const NodePtr found = localize(local, zoned, Ambiguous::kEarliest, Nonexistent::kNull);
  const Array counts = counts_from_times(local);
  const Array moved = counts + static_cast<int64_t>((nanoseconds - rest) / own);
  const NodePtr is_skipped = elementwise(Op::kIsNull, {found});
  return times_from_counts(elementwise(Op::kWhere, {is_skipped, moved, counts}),
                           local->signature().dtype);
}

Dtype in_zone(Dtype dtype, std::string_view zone) {
  return zone.empty() ? Dtype::timestamp(dtype.unit()) : Dtype::timestamp(dtype.unit(), zone);
}

}  // namespace

NodePtr localize(const NodePtr& local, Dtype zoned, const LocalizeOptions& options) {
  check_local(local->signature().dtype, zoned);
  const NodePtr times = options.shift ? shift_skipped(local, zoned, *options.shift) : local;
  const Nonexistent nonexistent = options.shift ? Nonexistent::kRaise : options.nonexistent;
  if (!options.is_summer_time) return localize(times, zoned, options.ambiguous, nonexistent);
  const NodePtr first = localize(times, zoned, Ambiguous::kEarliest, nonexistent);
  const NodePtr last = localize(times, zoned, Ambiguous::kLatest, nonexistent);
  return times_from_counts(
      elementwise(Op::kWhere,
                  {options.is_summer_time, counts_from_times(first), counts_from_times(last)}),
      zoned);
}

NodePtr localize(const NodePtr& local, std::string_view zone, const LocalizeOptions& options) {
  const Dtype dtype = local->signature().dtype;
  if (zone.empty()) return dtype.has_zone() ? local_times(local) : local;
  if (dtype.has_zone())
    throw_error<TypeMismatchError>(kLocalize, "the times already have a zone",
                                   {{"dtype", dtype.name()}}, "use dt.tz_convert to change it");
  if (dtype.is_date())
    throw_error<TypeMismatchError>(kLocalize, "dates have no time of day", {},
                                   "use astype('datetime64[us]') first");
  if (!dtype.is_timestamp())
    throw_error<TypeMismatchError>(kLocalize, "expected a column of timestamps",
                                   {{"dtype", dtype.name()}});
  return localize(local, in_zone(dtype, zone), options);
}

NodePtr convert_zone(const NodePtr& instants, std::string_view zone) {
  const Dtype dtype = instants->signature().dtype;
  if (!dtype.has_zone())
    throw_error<TypeMismatchError>(kConvert, "the times have no zone", {{"dtype", dtype.name()}},
                                   "use dt.tz_localize to set one");
  return retype(instants, in_zone(dtype, zone));
}

}  // namespace hr
