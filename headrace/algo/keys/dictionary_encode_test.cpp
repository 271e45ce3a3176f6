// SPDX-License-Identifier: Apache-2.0
// Values to categories and back: first-seen order, nulls, slices, the same codes on any threads.
#include "headrace/algo/keys/dictionary_encode.h"

#include "headrace/base/bits.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace hr {

namespace {

// Rows drawn from `distinct` strings, near and far.
Column random_strings(int64_t rows, uint64_t distinct, bool nulls) {
  std::mt19937_64 random(7);
  DictionaryBuilder builder;
  for (uint64_t i = 0; i < distinct; ++i)
    builder.add((i % 2 ? "a text that is far from its view " : "t") + std::to_string(i));
  const Column words = builder.values();
  Buffer views = Buffer::allocate(rows * 16);
  Buffer validity = nulls ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
  for (int64_t row = 0; row < rows; ++row) {
    const bool valid = !nulls || random() % 4 != 0;
    views.mutable_as<StringView>()[row] =
        valid ? words.values<StringView>()[random() % distinct] : StringView{};
    if (nulls && valid) set_bit(validity.mutable_as<uint8_t>(), row, true);
  }
  return Column::strings(rows, views, words.text_buffers(), validity, -1);
}

TEST(DictionaryEncode, EqualALoopAndGoBack) {
  for (const int64_t rows : {0L, 1L, 63L, 64L, 65L, 131'073L, 300'000L})
    for (const uint64_t distinct : {1u, 5u, 40'000u})
      for (const bool nulls : {false, true}) {
        const Column strings = random_strings(rows + 5, distinct, nulls).slice(5, rows);
        const Column categories = dictionary_encode(strings);
        ASSERT_EQ(categories.dtype(), Dtype(TypeId::kCategory));
        std::map<std::string, int32_t, std::less<>> order;
        for (int64_t row = 0; row < rows; ++row) {
          ASSERT_EQ(categories.is_null(row), strings.is_null(row));
          if (strings.is_null(row)) continue;
          const auto code = static_cast<int32_t>(order.size());
          const auto it = order.try_emplace(std::string(strings.string(row)), code).first;
          ASSERT_EQ(categories.values<int32_t>()[static_cast<size_t>(row)], it->second);
        }
        ASSERT_EQ(categories.dictionary()->size(), static_cast<int32_t>(order.size()));
        const Column back = dictionary_decode(categories.slice(rows / 3, rows - rows / 3));
        for (int64_t row = 0; row < back.num_rows(); ++row) {
          ASSERT_EQ(back.is_null(row), strings.is_null(rows / 3 + row));
          if (!back.is_null(row)) {
            ASSERT_EQ(back.string(row), strings.string(rows / 3 + row));
          }
        }
      }
}

template <class T>
void expect_codes_of(int64_t rows, T low, uint64_t range, bool nulls) {
  std::mt19937_64 random(11);
  std::vector<T> values;
  std::vector<bool> valid;
  for (int64_t row = 0; row < rows + 5; ++row) {
    values.push_back(static_cast<T>(static_cast<uint64_t>(low) + random() % range));
    valid.push_back(random() % 4 != 0);
  }
  const Column column =
      testing::column_of(values, nulls ? valid : std::vector<bool>{}).slice(5, rows);
  const Column categories = dictionary_encode(column);
  ASSERT_EQ(categories.dtype(), Dtype::category(column.dtype()));
  ASSERT_EQ(categories.null_count(), column.null_count());
  std::map<T, int32_t> order;
  for (int64_t row = 0; row < rows; ++row) {
    ASSERT_EQ(categories.is_null(row), column.is_null(row));
    if (column.is_null(row)) continue;
    const T value = values[static_cast<size_t>(row + 5)];
    const auto it = order.try_emplace(value, static_cast<int32_t>(order.size())).first;
    const int32_t code = categories.values<int32_t>()[static_cast<size_t>(row)];
    ASSERT_EQ(code, it->second);
    ASSERT_EQ(categories.dictionary()->values().values<T>()[static_cast<size_t>(code)], value);
  }
  ASSERT_EQ(categories.dictionary()->size(), static_cast<int32_t>(order.size()));
}

TEST(DictionaryEncode, OfIntegersNearAndFarEqualALoop) {
  for (const int64_t rows : {0L, 1L, 64L, 65L, 131'073L, 600'000L})
    for (const bool nulls : {false, true}) {
      expect_codes_of<int8_t>(rows, -128, 256, nulls);
      expect_codes_of<uint16_t>(rows, 3, 40'000, nulls);
      expect_codes_of<int32_t>(rows, -70'000, 140'000, nulls);
      for (const uint64_t range : {1u, 500'000u, 3'000'000'000u}) {
        expect_codes_of<int64_t>(rows, std::numeric_limits<int64_t>::min(), range, nulls);
        expect_codes_of<uint64_t>(rows, uint64_t{1} << 63, range, nulls);
      }
    }
}

TEST(DictionaryEncode, AreTheSameOnAnyThreads) {
  const Column strings = random_strings(500'000, 20'000, true);
  const int before = threads();
  set_threads(1);
  const Column one = dictionary_encode(strings);
  for (const int count : {2, 4}) {
    set_threads(count);
    const Column other = dictionary_encode(strings);
    EXPECT_EQ(other.dictionary(), one.dictionary());
    EXPECT_EQ(std::memcmp(other.values_buffer().data(), one.values_buffer().data(), 500'000 * 4),
              0);
  }
  set_threads(before);
}

}  // namespace

}  // namespace hr
