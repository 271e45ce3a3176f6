// SPDX-License-Identifier: Apache-2.0
// For tests: a column of each dtype with known values, and equality of values.
#pragma once
#include "headrace/base/bits.h"
#include "headrace/data/column.h"
#include "headrace/data/dictionary.h"

#include <array>
#include <cstring>
#include <string>

namespace hr::testing {

inline constexpr int kFirstDictionary = 19;
inline constexpr std::array<int, 24> kColumnKinds = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

inline Dtype dtype_of_kind(int kind) {
  if (kind < 13) return static_cast<TypeId>(kind);
  if (kind == 13) return TypeId::kDate;
  if (kind < 18) return Dtype::timestamp(static_cast<TimeUnit>(kind - 14));
  if (kind == 21) return Dtype::duration(TimeUnit::kMilli);
  if (kind == 22) return Dtype::timestamp(TimeUnit::kNano, "Europe/Berlin");
  if (kind == 23) return Dtype::decimal(38, 4);
  return kind == 18 ? TypeId::kString : TypeId::kCategory;
}

/// Rows of dtype 0 to 12 by TypeId, 13 dates, 14 to 17 timestamps, 18 strings (every second one
/// longer than a view), 19 categories, 20 ordered ones, 21 durations, 22 timestamps with a zone, 23
/// decimals; every seventh row is null if asked.
inline Column column_of_kind(int kind, int64_t rows, bool nulls) {
  const Dtype dtype = dtype_of_kind(kind);
  Buffer validity;
  if (nulls) {
    validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t i = 0; i < rows; ++i)
      if (i % 7 != 3) set_bit(validity.mutable_as<uint8_t>(), i, true);
  }
  if (dtype.is_category()) {
    DictionaryBuilder builder;
    for (const char* word : {"low", "a rather high value", "", "middle"}) builder.add(word);
    DictionaryPtr dictionary = builder.finish(kind == 20);
    Buffer codes = Buffer::allocate(rows * 4);
    for (int64_t i = 0; i < rows; ++i) codes.mutable_as<int32_t>()[i] = static_cast<int32_t>(i % 4);
    return Column::categories(rows, std::move(codes), dictionary, std::move(validity), -1);
  }
  if (dtype.is_string()) {
    Buffer views = Buffer::allocate_zeroed(rows * 16);
    Buffer text = Buffer::allocate((rows + 1) / 2 * 20);
    for (int64_t i = 0; i < rows; ++i) {
      const std::string word =
          i % 2 ? std::to_string(i) : "number " + std::to_string(1'000'000'000 + i);
      StringView& view = views.mutable_as<StringView>()[i];
      view.size = static_cast<uint32_t>(word.size());
      if (word.size() <= sizeof view.inlined) {
        std::memcpy(view.inlined, word.data(), word.size());
      } else {
        std::memcpy(view.indirect.prefix, word.data(), 4);
        view.indirect.offset = static_cast<uint32_t>(i / 2 * 20);
        std::memcpy(text.mutable_as<char>() + i / 2 * 20, word.data(), word.size());
      }
    }
    return Column::strings(rows, std::move(views), {std::move(text)}, std::move(validity), -1);
  }
  const int64_t bytes = dtype.is_bool() ? bitmap_bytes(rows) : rows * dtype.size_bytes();
  Buffer values = Buffer::allocate(bytes);
  for (int64_t i = 0; i < bytes; ++i)
    values.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(i * 37 + i / 251);
  return Column(dtype, rows, std::move(values), std::move(validity), -1);
}

inline bool same(const Column& a, const Column& b) {
  if (a.dtype() != b.dtype() || a.num_rows() != b.num_rows() || a.null_count() != b.null_count())
    return false;
  if (a.dictionary() && a.dictionary()->is_ordered() != b.dictionary()->is_ordered()) return false;
  const auto width = static_cast<size_t>(a.dtype().size_bytes());
  for (int64_t row = 0; row < a.num_rows(); ++row) {
    if (a.is_null(row) != b.is_null(row)) return false;
    if (a.is_null(row)) continue;
    if (a.dtype().is_string() || a.dtype().is_category()) {
      if (a.string(row) != b.string(row)) return false;
    } else if (a.dtype().is_bool()) {
      if (a.bit(row) != b.bit(row)) return false;
    } else if (std::memcmp(a.values_buffer().data() + (a.offset() + row) * a.dtype().size_bytes(),
                           b.values_buffer().data() + (b.offset() + row) * b.dtype().size_bytes(),
                           width) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace hr::testing
