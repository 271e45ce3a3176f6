// SPDX-License-Identifier: Apache-2.0
// Formats values as strings and parses times.
#include "headrace/functions/cast/format_values.h"

#include "headrace/algo/math/duration_text_math.h"
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/algo/math/number_text_math.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/base/bits.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/functions/temporal/strftime.h"
#include "headrace/functions/temporal/time_counts.h"
#include "headrace/functions/temporal/timezone.h"

#include <optional>
#include <type_traits>

namespace hr {

namespace {

constexpr int64_t kDaySeconds = 86'400;
constexpr std::string_view kBlanks = " \t\n\r\f\v";

Column numbers_as_text(const Column& column) {
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  return visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const values = column.values<T>().data();
    return build_strings(rows, {reads(column)}, null, null.bitmap(rows), [&] {
      return [values](int64_t row, StringBuilder& builder) {
        char* const begin = builder.reserve(kNumberRoom);
        char* end;
        if constexpr (std::is_floating_point_v<T>)
          end = write_float<FloatNotation::kPython>(values[row], begin);
        else
          end = write_integer(values[row], begin);
        builder.used(static_cast<size_t>(end - begin));
      };
    });
  });
}

Column bools_as_text(const Column& column) {
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  return build_strings(rows, {reads(column)}, null, null.bitmap(rows), [&] {
    return [&column](int64_t row, StringBuilder& builder) {
      builder.add(column.bit(row) ? "True" : "False");
    };
  });
}

// The strings of a column of times by `write(row, civil_time, builder)`.
template <class Write>
Column times_as_text(const Column& column, Write&& write) {
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  const bool is_date = column.dtype().is_date();
  const int32_t* const days = is_date ? column.values<int32_t>().data() : nullptr;
  const int64_t* const times = is_date ? nullptr : column.values<int64_t>().data();
  return build_strings(rows, {reads(column)}, null, null.bitmap(rows), [&] {
    return [&](int64_t row, StringBuilder& builder) {
      write(row,
            days ? civil_time_from_days(days[row])
                 : civil_time_from_timestamp(times[row], column.dtype().unit()),
            builder);
    };
  });
}

void check_times(std::string_view op, Dtype dtype) {
  if (dtype.has_zone())
    throw_error<TypeMismatchError>(
        op, "expected times without a time zone", {{"dtype", dtype.name()}},
        "use dt.tz_localize(None) first, and dt.tz_localize on the result");
  if (!dtype.is_date() && !dtype.is_timestamp())
    throw_error<TypeMismatchError>(op, "expected a column of dates or timestamps",
                                   {{"dtype", dtype.name()}}, "use astype('date')");
}

// By the clocks of the zone, if there is one, with what they are ahead.
Column iso_texts(const Column& given) {
  const Column column = given.dtype().has_zone() ? local_times(given) : given;
  const TimePattern day("astype", "%F", false), second("astype", "%F %T", false);
  const Dtype dtype = column.dtype();
  const int places = dtype.is_date()                          ? 0
                     : units_per_second(dtype.unit()) == 1    ? 0
                     : units_per_second(dtype.unit()) == 1000 ? 3
                     : dtype.unit() == TimeUnit::kMicro       ? 6
                                                              : 9;
  const auto* const instants = given.dtype().has_zone() ? given.values<int64_t>().data() : nullptr;
  return times_as_text(
      column, [&](int64_t row, const CivilTime& civil_time, StringBuilder& builder) {
        const TimePattern& pattern = dtype.is_date() ? day : second;
        char* const begin = builder.reserve(pattern.most_bytes() + 20);
        char* end = pattern.write(civil_time, begin);
        if (civil_time.nanos != 0) {
          *end++ = '.';
          int64_t rest = civil_time.nanos;
          for (int i = 9; i-- > 0; rest /= 10)
            if (i < places) end[i] = static_cast<char>('0' + rest % 10);
          end += places;
        }
        if (instants) {
          const int64_t local = column.values<int64_t>()[static_cast<size_t>(row)];
          end = write_iso_offset((local - instants[row]) / units_per_second(dtype.unit()), end);
        }
        builder.used(static_cast<size_t>(end - begin));
      });
}

Column durations_as_text(const Column& column) {
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  const int64_t* const values = column.values<int64_t>().data();
  return build_strings(rows, {reads(column)}, null, null.bitmap(rows), [&] {
    return [&](int64_t row, StringBuilder& builder) {
      char* const begin = builder.reserve(kMaxDuration);
      const char* const end = write_duration(values[row], column.dtype().unit(), begin);
      builder.used(static_cast<size_t>(end - begin));
    };
  });
}

// `zone`: of an instant, else null.
bool read_iso(std::string_view text, const TimezoneRules* zone, CivilTime& civil_time) {
  char padded[2 * kMaxIsoTime] = {};  // the parser reads beyond the end
  if (text.size() >= kMaxIsoTime) return false;
  std::copy(text.begin(), text.end(), padded);
  const char* const end = padded + text.size();
  IsoTime time = parse_iso_time(padded, end);
  if (zone ? !to_instant(*zone, time, end) : time.end != end) return false;
  civil_time = {time.days, time.seconds, time.nanos};
  return true;
}

bool read_pattern(const TimePattern& pattern, std::string_view text, const TimezoneRules* zone,
                  CivilTime& civil_time) {
  if (!pattern.read(text, civil_time)) return false;
  if (!zone) return !civil_time.is_utc;
  if (civil_time.is_utc) return true;
  const auto [first, last] =
      ZoneClock(*zone).instants_of(civil_time.days * kDaySeconds + civil_time.seconds);
  civil_time = {0, first, civil_time.nanos};
  return first == last;
}

std::string_view stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool fit(const CivilTime& civil_time, Dtype dtype, int64_t& value) {
  if (dtype.is_date()) {
    value = civil_time.days;
    return civil_time.seconds == 0 && civil_time.nanos == 0;
  }
  const int64_t units = units_per_second(dtype.unit());
  const int64_t nanos_per_unit = 1'000'000'000 / units;
  return civil_time.nanos % nanos_per_unit == 0 &&
         !__builtin_mul_overflow(civil_time.days * kDaySeconds + civil_time.seconds, units,
                                 &value) &&
         !__builtin_add_overflow(value, civil_time.nanos / nanos_per_unit, &value);
}

// A unit of time by pandas' names of it; 0 for none.
int64_t nanoseconds_of_unit(std::string_view name) {
  struct Unit {
    std::string_view names;  // each between blanks
    int64_t nanoseconds;
  };
  constexpr Unit kUnits[] = {
      {" W w week weeks ", 7 * kDaySeconds * kNanosecondsPerSecond},
      {" D d day days ", kDaySeconds * kNanosecondsPerSecond},
      {" h H hr hour hours ", 3600 * kNanosecondsPerSecond},
      {" min T m minute minutes ", 60 * kNanosecondsPerSecond},
      {" s S sec second seconds ", kNanosecondsPerSecond},
      {" ms L milli millis millisecond milliseconds ", 1'000'000},
      {" us U micro micros microsecond microseconds ", 1000},
      {" ns N nano nanos nanosecond nanoseconds ", 1},
  };
  const std::string word = " " + std::string(name) + " ";
  for (const Unit& unit : kUnits)
    if (unit.names.find(word) != std::string_view::npos) return unit.nanoseconds;
  return 0;
}

// "1h30min", "-2 days 4 hours", "1.5D": numbers with units, added up.
bool parse_lengths(std::string_view text, TimeUnit unit, int64_t* value) {
  const bool negative = text.starts_with("-");
  if (negative || text.starts_with("+")) text.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto skip = [&](auto&& belongs) {
    size_t count = 0;
    while (count < text.size() && belongs(text[count])) ++count;
    const std::string_view taken = text.substr(0, count);
    text.remove_prefix(count);
    return taken;
  };
  const auto skip_blanks = [&] { skip([](char c) { return c == ' ' || c == ','; }); };
  constexpr size_t kMostDigits = 18;
  Int128 sum = 0;
  skip_blanks();
  if (text.empty()) return false;
  while (!text.empty()) {
    const std::string_view whole = skip(is_digit);
    std::string_view part;
    if (text.starts_with(".")) {
      text.remove_prefix(1);
      part = skip(is_digit);
    }
    skip_blanks();
    const int64_t length =
        nanoseconds_of_unit(skip([](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }));
    skip_blanks();
    if (length == 0 || whole.size() + part.size() == 0 || whole.size() > kMostDigits) return false;
    Int128 number = 0, tens = length;
    for (const char digit : whole) number = number * 10 + (digit - '0');
    sum += number * length;
    for (const char digit : part.substr(0, kMostDigits)) {
      if (tens % 10 != 0) break;  // finer than a nanosecond
      tens /= 10;
      sum += tens * (digit - '0');
    }
  }
  const int64_t step = kNanosecondsPerSecond / units_per_second(unit);
  if (negative) sum = -sum;
  const Int128 count = sum / step;
  if (sum % step != 0 || count > INT64_MAX || count <= INT64_MIN) return false;
  *value = static_cast<int64_t>(count);
  return true;
}

std::string_view op_of(Dtype dtype) {
  return dtype.is_duration() ? "to_timedelta" : "to_datetime";
}

// Says what is wrong with a string; `civil_time`: null where it is none of the calendar.
[[noreturn]] void refuse_time(int64_t row, std::string_view text, const std::string& pattern,
                              Dtype dtype, const CivilTime* civil_time) {
  int64_t count;
  const bool spans = dtype.is_duration();
  const bool finer =
      spans ? parse_duration(stripped(text), TimeUnit::kNano, &count)
            : civil_time && !dtype.is_date() &&
                  civil_time->nanos % (1'000'000'000 / units_per_second(dtype.unit())) != 0;
  const bool further = !finer && (spans ? parse_duration(stripped(text), TimeUnit::kMicro, &count)
                                        : civil_time && !dtype.is_date());
  if (finer || further || civil_time)
    throw_error<InvalidArgumentError>(
        op_of(dtype),
        finer     ? "a time is finer than the dtype"
        : further ? "a time is out of range of the dtype"
                  : "a date cannot hold a time of day",
        {{"row", row}, {"text", text.substr(0, 40)}, {"dtype", dtype.name()}},
        finer ? "pass a dtype of nanoseconds, or errors='coerce' to turn such strings into nulls"
              : "pass a dtype of microseconds, or errors='coerce' to turn such strings into nulls");
  throw_error<InvalidArgumentError>(
      op_of(dtype), "cannot parse a string as a time",
      {{"row", row},
       {"text", text.substr(0, 40)},
       {"format", spans             ? std::string_view("D days HH:MM:SS.fraction, or 1h30min")
                  : pattern.empty() ? std::string_view("ISO 8601")
                                    : pattern},
       {"dtype", dtype.name()}},
      spans ? "pass errors='coerce' to turn such strings into nulls"
            : "pass format=, or errors='coerce' to turn such strings into nulls");
}

template <class T>
Column read_times(const Column& texts, const std::string& pattern, Dtype dtype, bool or_null) {
  const std::optional<TimePattern> wanted =
      pattern.empty() ? std::nullopt : std::optional(TimePattern("to_datetime", pattern, true));
  const auto zone = dtype.has_zone() ? timezone_rules(op_of(dtype), dtype) : nullptr;
  return map_rows_or_null<T>(texts, dtype, [&](int64_t row, T* out) {
    const std::string_view text = stripped(texts.string(row));
    int64_t value = 0;
    CivilTime civil_time;
    bool there = false;
    bool is_time = false;
    if (dtype.is_duration()) {
      there =
          parse_duration(text, dtype.unit(), &value) || parse_lengths(text, dtype.unit(), &value);
    } else {
      is_time = wanted ? read_pattern(*wanted, text, zone.get(), civil_time)
                       : read_iso(text, zone.get(), civil_time);
      there = is_time && fit(civil_time, dtype, value);
    }
    if (!there && !or_null)
      refuse_time(row, texts.string(row), pattern, dtype, is_time ? &civil_time : nullptr);
    *out = static_cast<T>(value);
    return there;
  });
}

}  // namespace

Column format_values(const Column& column) {
  const Dtype dtype = column.dtype();
  if (dtype.is_string()) return column;
  if (dtype.is_category()) return format_values(text_of(column));
  if (dtype.is_bool()) return bools_as_text(column);
  if (dtype.is_date() || dtype.is_timestamp()) return iso_texts(column);
  if (dtype.is_duration()) return durations_as_text(column);
  return numbers_as_text(column);
}

namespace {

struct FormatValues final : OperatorOf<FormatValues> {
  std::string_view name() const override { return "astype"; }

  std::string arguments() const override { return "string"; }

  Value execute(std::span<const Value> inputs) const override {
    return format_values(std::get<Column>(inputs[0]));
  }
};

struct FormatTimes final : OperatorOf<FormatTimes> {
  std::string pattern{};

  std::string_view name() const override { return "strftime"; }

  std::string arguments() const override { return pattern; }

  Value execute(std::span<const Value> inputs) const override {
    return format_times(std::get<Column>(inputs[0]), pattern);
  }

  static auto parameters(auto& self) { return std::tie(self.pattern); }
};

struct ParseTimes final : OperatorOf<ParseTimes> {
  std::string pattern{};
  Dtype dtype{};
  bool or_null = false;

  std::string_view name() const override { return op_of(dtype); }

  std::string arguments() const override { return pattern; }

  Value execute(std::span<const Value> inputs) const override {
    return parse_times(std::get<Column>(inputs[0]), pattern, dtype, or_null);
  }

  static auto parameters(auto& self) { return std::tie(self.pattern, self.dtype, self.or_null); }
};

}  // namespace

NodePtr format_values(const NodePtr& column) {
  Signature signature = column->signature();
  const Dtype dtype = signature.dtype;
  if (signature.form != Form::kColumn ||
      !(dtype.is_number() || dtype.is_string() || dtype.is_category() || dtype.is_date() ||
        dtype.has_unit()))
    throw_error<TypeMismatchError>("astype", "no conversion between these dtypes",
                                   {{"from", dtype.name()}, {"to", "string"}});
  signature.dtype = TypeId::kString;
  return apply_operator(FormatValues::make(), std::move(signature), {column});
}

Column format_times(const Column& column, const std::string& pattern) {
  check_times("strftime", column.dtype());
  const TimePattern wanted("strftime", pattern, false);
  return times_as_text(column, [&](int64_t, const CivilTime& civil_time, StringBuilder& builder) {
    char* const begin = builder.reserve(wanted.most_bytes());
    builder.used(static_cast<size_t>(wanted.write(civil_time, begin) - begin));
  });
}

NodePtr format_times(const NodePtr& column, const std::string& pattern) {
  if (column->signature().dtype.has_zone()) return format_times(local_times(column), pattern);
  Signature signature = column->signature();
  check_times("strftime", signature.dtype);
  const TimePattern checked("strftime", pattern, false);
  signature.dtype = TypeId::kString;
  return apply_operator(FormatTimes::make(pattern), std::move(signature), {column});
}

Column parse_times(const Column& column, const std::string& pattern, Dtype dtype, bool or_null) {
  const Column texts = text_of(column);
  if (dtype.is_date()) return read_times<int32_t>(texts, pattern, dtype, or_null);
  return read_times<int64_t>(texts, pattern, dtype, or_null);
}

NodePtr parse_times(const NodePtr& column, const std::string& pattern, Dtype dtype, bool or_null) {
  Signature signature = text_signature(column, dtype);
  if (dtype.has_zone())
    timezone_rules(op_of(dtype), dtype);  // throws where they are not known
  else if (!dtype.is_duration())
    check_times("to_datetime", dtype);
  if (!pattern.empty()) const TimePattern checked("to_datetime", pattern, true);
  signature.nullable |= or_null;
  return apply_operator(ParseTimes::make(pattern, dtype, or_null), std::move(signature), {column});
}

}  // namespace hr
