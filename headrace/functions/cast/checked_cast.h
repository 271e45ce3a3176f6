// SPDX-License-Identifier: Apache-2.0
// Conversions that refuse a value which the new dtype does not hold.
#pragma once
#include "headrace/algo/select/map_rows.h"
#include "headrace/functions/strings/string_builder.h"

#include <string>
#include <string_view>
#include <utility>

namespace hr {

/// `make(row, &value)` of each row that is not null, as `dtype`; where it is false, throws
/// InvalidArgumentError with the row and what `show(row)` says.
template <class T, class Make, class Show>
Column checked_cast(const Column& from, Dtype dtype, Make&& make, Show&& show) {
  const Nulls null(from);
  return map_rows<T>(from, dtype, [&](int64_t row) {
    T value{};
    if (!null(row) && !make(row, &value))
      throw_error<InvalidArgumentError>("astype", "a value does not fit the dtype",
                                        {{"row", row},
                                         {"value", std::string(show(row)).substr(0, 60)},
                                         {"from", from.dtype().name()},
                                         {"to", dtype.name()}},
                                        dtype.is_decimal() ? "use more digits, or round first"
                                        : from.dtype().is_floating()
                                            ? "fill NaN first, or use a wider dtype"
                                            : "use a wider dtype");
    return value;
  });
}

}  // namespace hr
