// SPDX-License-Identifier: Apache-2.0
// Times and durations from strings and numbers, with a dtype that may depend on the values.
#pragma once
#include "headrace/plan/graph/node.h"

#include <optional>
#include <string>

namespace hr {

/// How `to_datetime` and `to_timedelta` read a column.
struct TimeConversion {
  /// Of strings, and of integers whose digits are written in it; see `parse_times`. Empty: ISO
  /// 8601.
  std::string format{};
  /// Strings that do not match are null, else InvalidArgumentError with the row when it runs.
  bool or_null = false;
  /// Of numbers: "D", "h", "min" (or "m"), "s", "ms", "us" or "ns", counted from 1970 or from zero.
  std::string unit{};
  /// Of the result; else microseconds, or nanoseconds where a value needs them.
  std::optional<Dtype> dtype{};
  /// Timestamps without a zone are in UTC, and strings may have an offset.
  bool utc = false;
};

/// Strings, numbers or times as times. NaN is null, fractions keep microseconds; times without a
/// zone are local times of that of the result. Strings without a dtype for the result are parsed at
/// once, to see whether microseconds hold them all. Throws TypeMismatchError for other columns,
/// InvalidArgumentError for numbers without a unit.
HR_API NodePtr to_datetime(const NodePtr& column, const TimeConversion& how = {});

/// The same for durations.
HR_API NodePtr to_timedelta(const NodePtr& column, const TimeConversion& how = {});

/// Strings as int64 if all are integers, else as float64, which parses them at once; other columns
/// as they are. A string that is not a number is null with `or_null`, else InvalidArgumentError.
HR_API NodePtr to_numeric(const NodePtr& column, bool or_null);

}  // namespace hr
