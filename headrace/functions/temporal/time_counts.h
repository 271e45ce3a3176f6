// SPDX-License-Identifier: Apache-2.0
// Dates, timestamps and durations as the integers that they count. For functions of times only.
#pragma once
#include "headrace/plan/bind/literal.h"
#include "headrace/plan/graph/array.h"
#include "headrace/plan/graph/view.h"

namespace hr {

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
