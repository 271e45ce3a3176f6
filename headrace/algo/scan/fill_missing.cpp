// SPDX-License-Identifier: Apache-2.0
// Missing values filled: what a morsel begins with comes from the ones before it.
#include "headrace/algo/scan/fill_missing.h"

#include "headrace/algo/scan/fill_missing_kernels.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace hr {

namespace {

// What is carried over rows: the last value that was there.
template <class T>
struct Carried {
  T value{};
  bool known = false;
};

Buffer all_valid(int64_t rows) {
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const out = bits.mutable_as<uint8_t>();
  std::memset(out, 0xFF, static_cast<size_t>(rows / 8));
  for (int64_t row = rows - rows % 8; row < rows; ++row) set_bit(out, row, true);
  return bits;
}

// `read` gives the value of a row, `write` takes it; `out` is what `write` writes to.
template <class T, class Read, class Write>
Column fill(const Column& column, bool backward, Buffer out, const BufferAccess& written,
            Read&& read, Write&& write) {
  const int64_t rows = column.num_rows(), step = morsel_rows();
  const uint8_t* const valid = column.validity();
  const auto is_null = [&](int64_t row) { return valid && !get_bit(valid, column.offset() + row); };
  const auto is_there = [&](int64_t row, T value) {
    if constexpr (std::is_floating_point_v<T>)
      if (value != value) return false;
    return !is_null(row);
  };
  const auto count = static_cast<size_t>((rows + step - 1) / step);
  std::vector<Carried<T>> before(count + 1);
  std::vector<int64_t> nulls(count);
  const auto order = [&](size_t i) { return backward ? count - 1 - i : i; };
  parallel_morsels(rows, step, {reads(column)}, [&](Morsel morsel) {
    Carried<T>& last = before[order(static_cast<size_t>(morsel.index)) + 1];
    for (int64_t i = 0; i < morsel.end - morsel.begin && !last.known; ++i) {
      const int64_t row = backward ? morsel.begin + i : morsel.end - 1 - i;
      const T value = read(row);
      if (is_there(row, value)) last = {value, true};
    }
  });
  for (size_t i = 1; i <= count; ++i)
    if (!before[i].known) before[i] = before[i - 1];
  Buffer validity = valid ? all_valid(rows) : Buffer();
  uint8_t* const kept = valid ? validity.mutable_as<uint8_t>() : nullptr;
  parallel_morsels(rows, step, {reads(column), written}, [&](Morsel morsel) {
    const auto index = static_cast<size_t>(morsel.index);
    Carried<T> last = before[order(index)];
    for (int64_t i = 0; i < morsel.end - morsel.begin; ++i) {
      const int64_t row = backward ? morsel.end - 1 - i : morsel.begin + i;
      const T value = read(row);
      if (is_there(row, value)) last = {value, true};
      write(row, last.known ? last.value : value);
      if (!last.known && is_null(row)) {
        set_bit(kept, row, false);
        ++nulls[index];
      }
    }
  });
  int64_t left = 0;
  for (const int64_t each : nulls) left += each;
  return column.with_rows(rows, std::move(out), left > 0 ? std::move(validity) : Buffer(), left);
}

template <class T>
Column fill_values(const Column& column, bool backward) {
  const int64_t width = static_cast<int64_t>(sizeof(T));
  Buffer out = Buffer::allocate_spillable(column.num_rows() * width);
  T* const to = out.mutable_as<T>();
  const T* const from = column.values_buffer().as<T>() + column.offset();
  const BufferAccess written = writes(out, width);
  return fill<T>(
      column, backward, out, written, [from](int64_t row) { return from[row]; },
      [to](int64_t row, T value) { to[row] = value; });
}

}  // namespace

Column fill_missing(const Column& column, bool backward) {
  const Dtype dtype = column.dtype();
  if (column.num_rows() == 0 || (column.null_count() == 0 && !dtype.is_floating())) return column;
  if constexpr (built_with_cuda)
    if (column.place().is_gpu()) return gather_or_null(column, cuda::filled_rows(column, backward));
  if (dtype.is_bool()) {
    Buffer out = Buffer::allocate_zeroed(bitmap_bytes(column.num_rows()));
    auto* const bits = out.mutable_as<uint8_t>();
    const BufferAccess written = writes_bits(out);
    return fill<bool>(
        column, backward, out, written, [&](int64_t row) { return column.bit(row); },
        [&](int64_t row, bool value) { set_bit(bits, row, value); });
  }
  if (dtype.is_floating())
    return visit_floating(
        dtype, [&]<class T>(std::type_identity<T>) { return fill_values<T>(column, backward); });
  switch (dtype.size_bytes()) {
    case 1:
      return fill_values<uint8_t>(column, backward);
    case 2:
      return fill_values<uint16_t>(column, backward);
    case 4:
      return fill_values<uint32_t>(column, backward);
    case 8:
      return fill_values<uint64_t>(column, backward);
    default:  // views of strings, decimals
      return fill_values<StringView>(column, backward);
  }
}

}  // namespace hr
