// SPDX-License-Identifier: Apache-2.0
// Times and durations rounded to multiples of a period.
#pragma once
#include "headrace/functions/temporal/timezone.h"
#include "headrace/plan/bind/literal.h"

#include <string_view>

namespace hr {

enum class Rounding : uint8_t {
  kFloor,
  kCeil,
  kRound,  ///< to the nearest, halves to even multiples
};

/// "floor", "ceil", "round"; throws InvalidArgumentError for another word.
HR_API Rounding rounding_from_name(std::string_view name);

/// Nanoseconds of "15min", "1h30min", "D" and the like: numbers with one of D, h, min, s, ms, us,
/// ns. None for other text.
HR_API std::optional<Int128> period_from_text(std::string_view text);

/// Dates, timestamps or durations rounded to multiples of a period, counted from 1970 or from zero;
/// the dtype and nulls stay. Timestamps with a zone are rounded by its clocks, and `options` says
/// what becomes of period starts that they show twice or never. Throws InvalidArgumentError for a
/// period that is not positive, or no multiple of the column's unit.
HR_API NodePtr round_times(Rounding rounding, const NodePtr& column, Int128 nanoseconds,
                           const LocalizeOptions& options = {});

/// The same with a period as text; the floor of times also by "MS", "QS" and "YS", the starts of
/// month, quarter and year, which are dates.
HR_API NodePtr round_times(Rounding rounding, const NodePtr& column, std::string_view period,
                           const LocalizeOptions& options = {});

}  // namespace hr
