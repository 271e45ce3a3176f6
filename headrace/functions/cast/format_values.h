// SPDX-License-Identifier: Apache-2.0
// Texts of numbers, bools, dates and times.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string>

namespace hr {

/// Each value as Python's `str` has it: "-7", "0.1", "1e+16", "nan", "True", "2024-02-29",
/// "2024-02-29 09:30:00.500000"; durations as pandas has them, "2 days 03:04:05"; null stays null,
/// strings stay. Floats are the fewest digits that
/// read back to the same value. About 50 ns a row and core.
HR_API Column format_values(const Column& column);
/// Throws TypeMismatchError for complex numbers.
HR_API NodePtr format_values(const NodePtr& column);

/// Dates and times by a pattern of `strftime`: %Y %y %m %d %H %I %M %S %f (six digits) %p %j %a %A
/// %b %B %F %T %% in English, and all else as it stands; times with a zone by its clocks. Throws
/// InvalidArgumentError for another letter and TypeMismatchError for a column of other than dates
/// and times.
HR_API Column format_times(const Column& column, const std::string& pattern);
HR_API NodePtr format_times(const NodePtr& column, const std::string& pattern);

/// Times from strings by a pattern as above (%f takes one to nine digits, names any case, %j is not
/// read), or, when it is empty, "YYYY-MM-DD[ T]HH:MM[:SS[.fraction]]", of a dtype with a zone with
/// an offset too; strings without one are local times of the zone. Blanks around a string are
/// ignored. Durations of "D days HH:MM:SS.fraction", see `parse_duration`. A text that does not
/// match, no day of the calendar, or what the dtype (a date, timestamp or duration) does not hold:
/// null with `or_null`, else InvalidArgumentError naming row and text.
HR_API Column parse_times(const Column& column, const std::string& pattern, Dtype dtype,
                          bool or_null);
HR_API NodePtr parse_times(const NodePtr& column, const std::string& pattern, Dtype dtype,
                           bool or_null);

}  // namespace hr
