// SPDX-License-Identifier: Apache-2.0
// Dates, timestamps and durations as the integers that they count. For functions of times only.
#pragma once
#include "headrace/plan/bind/literal.h"
#include "headrace/plan/graph/array.h"
#include "headrace/plan/graph/view.h"

#include <cstdint>
#include <string_view>

namespace hr {

inline constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

/// A unit of periods and of numbers that become times, by pandas' name.
struct PeriodUnit {
  std::string_view name;
  int64_t nanoseconds;
};

inline constexpr PeriodUnit kPeriodUnits[] = {
    {"D", 86'400 * kNanosecondsPerSecond},
    {"h", 3600 * kNanosecondsPerSecond},
    {"min", 60 * kNanosecondsPerSecond},
    {"s", kNanosecondsPerSecond},
    {"ms", 1'000'000},
    {"us", 1000},
    {"ns", 1},
};

/// Counts of the column's own unit: int64.
inline Array counts_from_times(const NodePtr& column) {
  return cast(retype(column, column->signature().dtype.storage()), TypeId::kInt64);
}

inline NodePtr times_from_counts(const NodePtr& counts, Dtype dtype) {
  return retype(cast(counts, dtype.storage()), dtype);
}

inline Array floor_divide(const Array& a, const Array& b) {
  return Array::elementwise(Op::kFloorDivide, {a, b});
}

/// With the sign of `b`.
inline Array remainder(const Array& a, const Array& b) {
  return Array::elementwise(Op::kRemainder, {a, b});
}

}  // namespace hr
