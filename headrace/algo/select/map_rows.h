// SPDX-License-Identifier: Apache-2.0
// Columns made from another one row by row.
#pragma once
#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/base/bits.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <utility>

namespace hr {

/// `fill(morsel, out)` writes the values of a morsel's rows; rows that are null in `column` are
/// null here, whatever it writes for them.
template <class T, class Fill>
Column map_morsels(const Column& column, Dtype dtype, Fill&& fill) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  Buffer buffer = Buffer::allocate_spillable(kWidth * rows);
  if (rows > 0) {
    T* const out = buffer.mutable_as<T>();
    parallel_morsels(rows, {reads(column), writes(buffer, kWidth)},
                     [&](Morsel morsel) { fill(morsel, out); });
  }
  return Column(dtype, rows, std::move(buffer), null.bitmap(rows), null.any() ? -1 : 0);
}

/// The same by `make(row)`, of which each morsel has its own copy. It is called for null rows too.
template <class T, class Make>
Column map_rows(const Column& column, Dtype dtype, const Make& make) {
  return map_morsels<T>(column, dtype, [&](Morsel morsel, T* out) {
    Make each = make;
    for (int64_t row = morsel.begin; row < morsel.end; ++row) out[row] = each(row);
  });
}

/// The values of `make(row, &value)` for the rows that are not null; where it is false, the row is
/// null here.
template <class T, class Make>
Column map_rows_or_null(const Column& column, Dtype dtype, const Make& make) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  Buffer buffer = Buffer::allocate_spillable(kWidth * rows);
  if (rows == 0) return Column(dtype, 0, std::move(buffer));
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  T* const out = buffer.mutable_as<T>();
  auto* const valid = validity.mutable_as<uint8_t>();
  parallel_morsels(rows, {reads(column), writes(buffer, kWidth)}, [&](Morsel morsel) {
    Make each = make;
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      T value{};
      const bool there = !null(row) && each(row, &value);
      out[row] = there ? value : T{};
      set_bit(valid, row, there);
    }
  });
  return Column(dtype, rows, std::move(buffer), std::move(validity), -1);
}

}  // namespace hr
