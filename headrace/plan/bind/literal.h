// SPDX-License-Identifier: Apache-2.0
// Literals: constant operands, with the type that they bring.
#pragma once
#include "headrace/algo/math/decimal_math.h"
#include "headrace/base/dtype.h"
#include "headrace/base/error.h"
#include "headrace/data/scalar.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace hr {

/// A moment: nanoseconds since 1970, in UTC for one with a zone. `dtype`: a date, or the timestamp
/// of the coarsest unit that holds it.
struct TimeLiteral {
  Int128 nanoseconds = 0;
  Dtype dtype = TypeId::kDate;
};

struct DurationLiteral {
  Int128 nanoseconds = 0;
};

/// Months of the calendar, then a span of time.
struct CalendarLiteral {
  int64_t months = 0;
  Int128 nanoseconds = 0;
};

/// A decimal, or an integer of more than 64 bits, by its digits.
struct DecimalLiteral {
  std::string digits;
  bool is_integer = false;
};

/// A number (a weak one takes the dtype of what it meets), a string, or one of those above.
using Literal = std::variant<Scalar, std::string, TimeLiteral, DurationLiteral, CalendarLiteral,
                             DecimalLiteral>;

/// What dates, times and durations count: days, if there is no unit of seconds.
using CountUnit = std::optional<TimeUnit>;

/// Of dates, times and durations.
constexpr CountUnit count_unit(Dtype dtype) {
  return dtype.has_unit() ? CountUnit(dtype.unit()) : CountUnit();
}

constexpr int64_t nanoseconds_per(CountUnit unit) {
  return unit ? 1'000'000'000 / units_per_second(*unit) : 86'400 * int64_t{1'000'000'000};
}

/// The coarsest unit in which this is an integer.
HR_API CountUnit coarsest_unit(Int128 nanoseconds);

/// A date or time by ISO 8601: "2024-03-05", "20240305", "2024-W10-2" or "2024W10", any one
/// character, "12", "12:30", "12:30:15", "12:30:15.25" or the same without colons, "Z" or "+01:00".
/// Without an offset it is a local time of `zone`, a timestamp that may have one, the first of two
/// that its clocks show. None for other text. Throws UnsupportedError for a zone whose rules are
/// not known.
HR_API std::optional<TimeLiteral> time_from_text(std::string_view text, Dtype zone = {});

/// `value=...` in an error message.
HR_API Detail detail_of(const Literal& literal);

}  // namespace hr
