// SPDX-License-Identifier: Apache-2.0
// Conversions that refuse a value which the new dtype does not hold.
#pragma once
#include "headrace/functions/strings/string_builder.h"

#include <string>
#include <string_view>
#include <utility>

namespace hr {

/// `make(row, &value)` of each row that is not null, as `dtype`; where it is false, throws
/// InvalidArgumentError with the row and what `show(row)` says.
template <class T, class Make, class Show>
Column checked_cast(const Column& from, Dtype dtype, Make&& make, Show&& show) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  const int64_t rows = from.num_rows();
  const Nulls null(from);
  Buffer buffer = Buffer::allocate_spillable(kWidth * rows);
  if (rows > 0) {
    T* const out = buffer.mutable_as<T>();
    parallel_morsels(rows, {reads(from), writes(buffer, kWidth)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        T value{};
        if (!null(row) && !make(row, &value))
          throw_error<InvalidArgumentError>("astype", "a value that the dtype does not hold",
                                            {{"row", row},
                                             {"value", std::string(show(row)).substr(0, 60)},
                                             {"from", from.dtype().name()},
                                             {"to", dtype.name()}},
                                            dtype.is_decimal() ? "use more digits, or round first"
                                            : from.dtype().is_floating()
                                                ? "fill NaN first, or use a wider dtype"
                                                : "use a wider dtype");
        out[row] = value;
      }
    });
  }
  return Column(dtype, rows, std::move(buffer), null.bitmap(rows), null.any() ? -1 : 0);
}

}  // namespace hr
