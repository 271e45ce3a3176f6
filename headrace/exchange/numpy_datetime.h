// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps as NumPy has them: 64 bits each, the least integer (NaT) where ours is null.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <limits>
#include <string_view>

namespace hr {

inline constexpr int64_t kNotATime = std::numeric_limits<int64_t>::min();

/// A one-dimensional tensor of timestamps as a column: the same memory where it is contiguous. NaT
/// becomes null; the bitmap for that is the only thing made, and only when there is one.
HR_API Column column_of_times(std::string_view op, const Tensor& times);

/// Timestamps with NaT in the null rows: the same memory without nulls, else one copy in the
/// ledger.
HR_API Tensor times_of(std::string_view op, const Column& column);

/// Days since 1970 in 64 bits (NumPy's datetime64[D]) as dates, by one copy in the ledger; NaT
/// becomes null. Throws InvalidArgumentError for a day that 32 bits do not hold.
HR_API Column dates_of_days(std::string_view op, const Tensor& days);

/// Dates as days in 64 bits, NaT where null, by one copy in the ledger.
HR_API Tensor days_of(std::string_view op, const Column& dates);

/// Arrow's date64 (milliseconds in an int64 column) as dates, by one copy in the ledger. Throws
/// InvalidArgumentError for a time that is no midnight or a day that 32 bits do not hold.
HR_API Column dates_of_milliseconds(std::string_view op, const Column& milliseconds);

}  // namespace hr
