// SPDX-License-Identifier: Apache-2.0
// Bools and nulls by row, as bits.
#pragma once
#include "headrace/algo/bits/blend.h"
#include "headrace/algo/select/filter.h"
#include "headrace/base/bits.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/column.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace hr {

/// Wanted rows of 64 below which they are tested one by one: if a test reads strings, and where
/// it costs as little as the loop.
inline constexpr int kFewRows = 24, kFewCheapRows = 6;

/// `test(row)` of all rows as bits; false for rows where the mask is not true.
template <class F>
Buffer bits_of(int64_t rows, const std::vector<BufferAccess>& accesses, F&& test,
               const Mask* where = nullptr, int few = kFewRows) {
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows == 0) return bits;
  uint8_t* const out = bits.mutable_as<uint8_t>();
  parallel_morsels(rows, accesses, [&](Morsel morsel) {
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += 64) {
      const int64_t count = std::min<int64_t>(64, morsel.end - begin);
      const uint64_t wanted = where ? where->word(begin, count) : ~uint64_t{0};
      uint64_t word = 0;
      if (where && std::popcount(wanted) < few) {
        for (uint64_t rest = wanted; rest; rest &= rest - 1) {
          const int i = std::countr_zero(rest);
          word |= uint64_t{test(begin + i)} << i;
        }
        std::memcpy(out + begin / 8, &word, static_cast<size_t>((count + 7) / 8));
        continue;
      }
      if (count == 64) {  // by bytes, which compilers make in vectors
        uint8_t flags[64];
        for (int64_t i = 0; i < 64; ++i) flags[i] = test(begin + i);
        for (int64_t i = 0; i < 64; i += 8) word |= packed_bits(flags + i) << i;
      } else {
        for (int64_t i = 0; i < count; ++i) word |= uint64_t{test(begin + i)} << i;
      }
      word &= wanted;
      std::memcpy(out + begin / 8, &word, static_cast<size_t>((count + 7) / 8));
    }
  });
  return bits;
}

/// Which rows of a column are null.
class Nulls {
 public:
  explicit Nulls(const Column& column) : valid_(column.validity()), offset_(column.offset()) {}

  bool operator()(int64_t row) const { return valid_ && !get_bit(valid_, offset_ + row); }

  bool any() const { return valid_ != nullptr; }

  /// The `count` rows from `row` on that are not null, as bits.
  uint64_t valid(int64_t row, int64_t count) const {
    return valid_ ? load_bits(valid_, offset_ + row, count) : ~uint64_t{0} >> (64 - count);
  }

  /// The validity of `rows` results that are null where the column is; empty for none.
  Buffer bitmap(int64_t rows) const {
    if (!valid_) return {};
    Buffer bits = Buffer::allocate(bitmap_bytes(rows));
    uint8_t* const out = bits.mutable_as<uint8_t>();
    for (int64_t row = 0; row < rows; row += 64) {
      const int64_t count = std::min<int64_t>(64, rows - row);
      const uint64_t word = valid(row, count);
      std::memcpy(out + row / 8, &word, static_cast<size_t>(bitmap_bytes(count)));
    }
    return bits;
  }

 private:
  const uint8_t* valid_;
  int64_t offset_;
};

/// A bool that is null, and false beneath, where `null` says so.
template <class F>
Column bool_column(int64_t rows, Buffer bits, bool nullable, F&& null) {
  if (!nullable) return Column(TypeId::kBool, rows, std::move(bits));
  Buffer validity = bits_of(rows, {}, [&](int64_t row) { return !null(row); });
  for (int64_t i = 0; i < bits.size_bytes(); ++i)
    bits.mutable_as<uint8_t>()[i] &= validity.as<uint8_t>()[i];
  return Column(TypeId::kBool, rows, std::move(bits), std::move(validity), -1);
}

/// `test(code)` of each row of a category column; null where the row is.
template <class F>
Column test_codes(const Column& column, F&& test, const Mask* where = nullptr) {
  const int32_t* const codes = column.values<int32_t>().data();
  const Nulls null(column);
  Buffer bits = bits_of(
      column.num_rows(), {reads(column)},
      [&](int64_t row) { return !null(row) && test(codes[row]); }, where, kFewCheapRows);
  return bool_column(column.num_rows(), std::move(bits), null.any(), null);
}

}  // namespace hr
