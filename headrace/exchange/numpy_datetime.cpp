// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps to and from NumPy's and Arrow's 64-bit forms.
#include "headrace/exchange/numpy_datetime.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <atomic>

namespace hr {

namespace {

constexpr int64_t kDay = 86'400'000;  // milliseconds

int32_t checked_day(std::string_view op, int64_t row, int64_t day) {
  if (day < std::numeric_limits<int32_t>::min() || day > std::numeric_limits<int32_t>::max())
    throw_error<InvalidArgumentError>(op, "a day is out of range of a 32-bit date",
                                      {{"row", row}, {"day", day}}, "keep such times as integers");
  return static_cast<int32_t>(day);
}

// Validity of values of which some are NaT; empty when none is.
Buffer validity_of_times(std::string_view op, const int64_t* values, int64_t step, int64_t rows) {
  std::atomic<bool> found{false};
  parallel_morsels(rows, [&](Morsel morsel) {
    bool any = false;
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      any |= values[row * step] == kNotATime;
    if (any) found = true;
  });
  if (!found) return {};
  record_copy(op, "NaT becomes null", bitmap_bytes(rows), false);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* bits = validity.mutable_as<uint8_t>();
  parallel_morsels(rows, [&](Morsel morsel) {  // morsels begin at whole bytes
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      if (values[row * step] != kNotATime) set_bit(bits, row, true);
  });
  return validity;
}

// Eight bytes a row from a column, with NaT where it is null.
template <class From>
Tensor widened(const Column& column, Dtype dtype) {
  Buffer buffer = Buffer::allocate(column.num_rows() * 8);
  if (column.num_rows() > 0) {
    auto* out = buffer.mutable_as<int64_t>();
    const From* in = column.values<From>().data();
    parallel_morsels(column.num_rows(), [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = column.is_null(row) ? kNotATime : in[row];
    });
  }
  return Tensor(dtype, {column.num_rows()}, std::move(buffer));
}

}  // namespace

Column column_of_times(std::string_view op, const Tensor& times) {
  if (times.num_dimensions() != 1 || !times.dtype().has_unit())
    throw_error<TypeMismatchError>(
        op, "expected a 1-D array of times or durations",
        {{"dimensions", times.num_dimensions()}, {"dtype", times.dtype().name()}});
  const Tensor dense = contiguous(times, op);
  const int64_t rows = dense.num_elements();
  Buffer validity = validity_of_times(op, dense.as<int64_t>(), 1, rows);
  if (dense.byte_offset() == 0 || !validity)
    return Column(dense.dtype(), rows, dense.buffer(), std::move(validity), -1,
                  dense.byte_offset() / 8);
  // Values and validity share one offset: a view into the middle gets a bitmap with room before.
  const int64_t offset = dense.byte_offset() / 8;
  Buffer moved = Buffer::allocate_zeroed(bitmap_bytes(offset + rows));
  auto* bits = moved.mutable_as<uint8_t>();
  for (int64_t row = 0; row < rows; ++row)
    set_bit(bits, offset + row, get_bit(validity.as<uint8_t>(), row));
  return Column(dense.dtype(), rows, dense.buffer(), std::move(moved), -1, offset);
}

Tensor times_of(std::string_view op, const Column& column) {
  if (column.null_count() == 0)
    return Tensor(column.dtype(), {column.num_rows()}, column.values_buffer(), column.offset() * 8);
  record_copy(op, "nulls become NaT", column.num_rows() * 8, false);
  return widened<int64_t>(column, column.dtype());
}

Column dates_of_days(std::string_view op, const Tensor& days) {
  if (days.num_dimensions() != 1 || days.dtype() != TypeId::kInt64)
    throw_error<TypeMismatchError>(op, "days must be 1-D int64", {{"dtype", days.dtype().name()}});
  const int64_t rows = days.num_elements();
  record_copy(op, "datetime64[D] becomes date", rows * 4, false);
  Buffer buffer = Buffer::allocate(rows * 4);
  if (rows == 0) return Column(TypeId::kDate, 0, std::move(buffer));
  const auto* in = days.as<int64_t>();
  const int64_t step = days.strides()[0];
  Buffer validity = validity_of_times(op, in, step, rows);
  auto* out = buffer.mutable_as<int32_t>();
  parallel_morsels(rows, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      out[row] = in[row * step] == kNotATime ? 0 : checked_day(op, row, in[row * step]);
  });
  return Column(TypeId::kDate, rows, std::move(buffer), std::move(validity), -1);
}

Tensor days_of(std::string_view op, const Column& dates) {
  record_copy(op, "date becomes datetime64[D]", dates.num_rows() * 8, false);
  return widened<int32_t>(dates, TypeId::kInt64);
}

Column dates_of_milliseconds(std::string_view op, const Column& milliseconds) {
  const int64_t rows = milliseconds.num_rows();
  record_copy(op, "date64 becomes date", rows * 4, false);
  Buffer buffer = Buffer::allocate(rows * 4);
  if (rows == 0) return Column(TypeId::kDate, 0, std::move(buffer));
  auto* out = buffer.mutable_as<int32_t>();
  const auto in = milliseconds.values<int64_t>();
  const bool has_nulls = milliseconds.null_count() > 0;
  Buffer validity = has_nulls ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
  uint8_t* bits = has_nulls ? validity.mutable_as<uint8_t>() : nullptr;
  parallel_morsels(rows, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const int64_t value = milliseconds.is_null(row) ? 0 : in[static_cast<size_t>(row)];
      if (value % kDay != 0)
        throw_error<InvalidArgumentError>(op, "a date64 value has a time of day",
                                          {{"row", row}, {"milliseconds", value}},
                                          "cast it to timestamp('ms') first");
      out[row] = checked_day(op, row, value / kDay);
      if (bits && !milliseconds.is_null(row)) set_bit(bits, row, true);
    }
  });
  return Column(TypeId::kDate, rows, std::move(buffer), std::move(validity), -1);
}

}  // namespace hr
