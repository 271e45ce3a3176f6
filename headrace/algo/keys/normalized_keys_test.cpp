// SPDX-License-Identifier: Apache-2.0
// Normalized keys order as the keys, and decode to them.
#include "headrace/algo/keys/normalized_keys.h"

#include "headrace/algo/keys/short_text_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace hr {
namespace {

using testing::column_of;

Buffer normalized_of(const NormalizedKeys& packed) {
  Buffer normalized_keys = Buffer::allocate(8 * packed.num_rows());
  packed.read(0, packed.num_rows(), normalized_keys.mutable_as<uint64_t>());
  return normalized_keys;
}

TEST(NormalizedKeys, OrdersAsTheKeysDo) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Column floats = column_of<double>({-inf, -2.5, -0.0, 0.0, 1e-300, 7, inf, -nan, 0},
                                          {true, true, true, true, true, true, true, true, false});
  NormalizedKeys packed = NormalizedKeys::of("test", {floats}, {});
  const Buffer normalized_keys = normalized_of(packed);
  const auto* normalized = normalized_keys.as<uint64_t>();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(normalized[i] < normalized[i + 1], i != 2) << i;
  EXPECT_EQ(normalized[2], normalized[3]);
  const Column back = packed.decode(0, normalized_keys, 9);
  EXPECT_EQ(back.values<double>()[1], -2.5);
  EXPECT_TRUE(std::isnan(back.values<double>()[7]));
  EXPECT_TRUE(back.is_null(8));
  EXPECT_EQ(back.null_count(), 1);
}

TEST(NormalizedKeys, TwoTablesPackAlike) {
  const auto check = [](const std::vector<Column>& left, const std::vector<Column>& right,
                        bool fits) {
    const auto two = NormalizedKeys::of_two("test", left, right, std::vector<Column>(left.size()));
    ASSERT_EQ(two.has_value(), fits);
    if (!fits) return;
    const Buffer a = normalized_of((*two)[0]), b = normalized_of((*two)[1]);
    const auto same = [](const Column& x, int64_t i, const Column& y, int64_t j) {
      if (x.is_null(i) || y.is_null(j)) return x.is_null(i) && y.is_null(j);
      return visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
        const T p = x.values<T>()[static_cast<size_t>(i)],
                q = y.values<T>()[static_cast<size_t>(j)];
        return p == q || (p != p && q != q);
      });
    };
    for (int64_t i = 0; i < left[0].num_rows(); ++i)
      for (int64_t j = 0; j < right[0].num_rows(); ++j) {
        bool equal = true;
        for (size_t k = 0; k < left.size(); ++k) equal &= same(left[k], i, right[k], j);
        EXPECT_EQ(a.as<uint64_t>()[i] == b.as<uint64_t>()[j], equal) << i << " " << j;
      }
  };
  const Column few = column_of<int64_t>({-5, 3, -5, 100}),
               more = column_of<int64_t>({3, -700, 100});
  const Column bytes = column_of<uint8_t>({200, 7, 9, 0}, {true, true, true, false});
  const Column others = column_of<uint8_t>({7, 255, 0}, {true, true, false});
  check({few, bytes}, {more, others}, true);
  check({few, bytes}, {more.slice(1, 2), others.slice(1, 2)}, true);
  check({few, bytes}, {more.slice(0, 0), others.slice(0, 0)}, true);
  check({column_of<float>({0.0f, -0.0f, NAN, 2})}, {column_of<float>({2, NAN, 0.0f})}, true);
  check({column_of<uint64_t>({0, UINT64_MAX})}, {column_of<uint64_t>({5, UINT64_MAX})}, true);
  check({column_of<int64_t>({INT64_MIN, 1}), few.slice(0, 2)},
        {column_of<int64_t>({INT64_MAX, 1}), more.slice(0, 2)}, false);
}

TEST(NormalizedKeys, SeveralColumnsBesideEachOther) {
  const Column a = column_of<int64_t>({-5, 3, -5, 100});
  const Column b = column_of<uint8_t>({200, 7, 9, 0}, {true, true, true, false});
  const NormalizedKeys packed = NormalizedKeys::of("test", {a, b}, {});
  EXPECT_LT(packed.domain(), 1u << 16);
  const Buffer normalized_keys = normalized_of(packed);
  const auto* normalized = normalized_keys.as<uint64_t>();
  EXPECT_LT(normalized[2], normalized[0]);
  EXPECT_LT(normalized[0], normalized[1]);
  EXPECT_LT(normalized[1], normalized[3]);
  EXPECT_EQ(packed.decode(0, normalized_keys, 4).values<int64_t>()[3], 100);
  EXPECT_TRUE(packed.decode(1, normalized_keys, 4).is_null(3));
  EXPECT_EQ(packed.decode(1, normalized_keys, 4).values<uint8_t>()[0], 200);
}

TEST(NormalizedKeys, WhatDoesNotFitIsNumbered) {
  const Column wide =
      column_of<int64_t>({INT64_MAX, INT64_MIN, 0, INT64_MAX}, {true, true, true, false});
  const Column floats = column_of<double>({1, 2, 3, std::nan("")});
  for (const bool drop : {false, true}) {
    const NormalizedKeys packed =
        NormalizedKeys::of("test", {wide, floats}, {.drop_missing = drop});
    const Buffer normalized_keys = normalized_of(packed);
    const auto* normalized = normalized_keys.as<uint64_t>();
    EXPECT_LT(normalized[1], normalized[2]);
    EXPECT_LT(normalized[2], normalized[0]);
    EXPECT_LT(normalized[0], normalized[3]);
    EXPECT_EQ(packed.has_missing(), drop);
    if (drop) {
      EXPECT_EQ(normalized[3], packed.missing());
    }
    EXPECT_EQ(packed.decode(0, normalized_keys, 3).values<int64_t>()[1], INT64_MIN);
    EXPECT_EQ(packed.decode(1, normalized_keys, 3).values<double>()[2], 3);
    if (!drop) {
      EXPECT_TRUE(packed.decode(0, normalized_keys, 4).is_null(3));
    }
  }
}

Column texts_of(const std::vector<std::string_view>& texts, const std::vector<bool>& valid = {}) {
  DictionaryBuilder builder;
  for (const std::string_view text : texts) builder.add(text);
  const auto rows = static_cast<int64_t>(texts.size());
  Buffer views = Buffer::allocate(16 * rows), validity;
  if (!valid.empty()) validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  const DictionaryPtr dictionary = builder.finish();
  for (int64_t i = 0; i < rows; ++i) {
    StringView& view = views.mutable_as<StringView>()[i] = {};
    const std::string_view text = texts[static_cast<size_t>(i)];
    for (int64_t k = 0; k < dictionary->size(); ++k)
      if (dictionary->values().string(k) == text)
        view = dictionary->values().values<StringView>()[static_cast<size_t>(k)];
    if (validity) set_bit(validity.mutable_as<uint8_t>(), i, valid[static_cast<size_t>(i)]);
  }
  return dictionary->values().with_rows(rows, views, validity, -1);
}

TEST(NormalizedKeys, TextsAreNumbersWhereShort) {
  using namespace std::string_view_literals;
  const std::vector<std::vector<std::string_view>> cases{
      {"A", "F", "N", "R", "\xff"},
      {"", "a", "a\0"sv, "a\0\0"sv, "ab"},
      {"", "", "", "", ""},
      {"id001", "id002", "id010", "id099", "id100"},
      {"", "a", "abcdef", "abcdefg", "b"},
      {"a", "b", "c", "zzzzzz", "zzzzzzzzzzzzzzzzzzz"}};
  for (const auto& texts : cases)
    for (const bool nulls : {false, true}) {
      const Column column =
          texts_of(texts, nulls ? std::vector{true, true, true, true, false} : std::vector<bool>{});
      const NormalizedKeys packed = NormalizedKeys::of("test", {column}, {});
      const Buffer normalized_keys = normalized_of(packed);
      const auto* normalized = normalized_keys.as<uint64_t>();
      for (size_t i = 0; i + 1 < texts.size(); ++i)
        EXPECT_EQ(normalized[i] < normalized[i + 1], texts[i] != texts[i + 1] || (nulls && i == 3))
            << i;
      EXPECT_LT(normalized[4], packed.domain());
      const Column back = packed.decode(0, normalized_keys, 5);
      for (int64_t i = 0; i < 5; ++i)
        if (nulls && i == 4)
          EXPECT_TRUE(back.is_null(i));
        else
          EXPECT_EQ(back.string(i), texts[static_cast<size_t>(i)]);
    }
  const Column short_texts = texts_of({"N", "A", "A", "R"}),
               ints = column_of<int64_t>({7, 9, 7, 7});
  EXPECT_LE(NormalizedKeys::of("test", {short_texts, ints}, {}).domain(), 1u << 7);
}

// The kernels against their definition, one string at a time.
class ShortTexts : public testing::SimdAndThreadsTest {};

TEST_F(ShortTexts, AreTheSameNumbersAtEachLevel) {
  constexpr int64_t kMost = 70;
  std::vector<std::string> texts;
  for (int64_t i = 0; i < kMost; ++i)
    texts.push_back(std::string(static_cast<size_t>(i * 7 % (cpu::kShortText + 1)),
                                static_cast<char>(i * 37 % 256)));
  const Column column = texts_of(std::vector<std::string_view>(texts.begin(), texts.end()));
  const StringView* const views = column.values<StringView>().data();
  const auto number_of = [](std::string_view text, int bytes, int size_bits) {
    uint64_t number = 0;
    for (int k = 0; k < bytes; ++k)
      number = number << 8 | (k < static_cast<int>(text.size())
                                  ? static_cast<uint8_t>(text[static_cast<size_t>(k)])
                                  : 0);
    return size_bits == 0 ? number : number << size_bits | text.size();
  };
  for (int level = 0; level <= static_cast<int>(best_simd_level()); ++level) {
    set_simd_level(static_cast<SimdLevel>(level));
    for (int64_t count = 0; count <= kMost; ++count) {
      cpu::TextRange range, wanted;
      cpu::widen_text_range(views, count, range);
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const uint64_t number = number_of(texts[i], cpu::kShortText, 3);
        wanted = {std::min(wanted.low, number), std::max(wanted.high, number),
                  std::min<uint64_t>(wanted.shortest, texts[i].size()),
                  std::max<uint64_t>(wanted.longest, texts[i].size())};
      }
      EXPECT_EQ(range.low, wanted.low);
      EXPECT_EQ(range.high, wanted.high);
      EXPECT_EQ(range.shortest, wanted.shortest);
      EXPECT_EQ(range.longest, wanted.longest);
      for (const int size_bits : {0, 3})
        for (int bytes = 0; bytes <= cpu::kShortText; ++bytes) {
          if (bytes == 0 && size_bits > 0) continue;  // of empty strings alone
          std::vector<uint64_t> numbers(kMost + 1, 99);
          cpu::text_numbers(views, count, bytes, size_bits, 5, numbers.data());
          for (size_t i = 0; i < static_cast<size_t>(count); ++i)
            EXPECT_EQ(numbers[i], number_of(texts[i], bytes, size_bits) - 5) << bytes << " " << i;
          EXPECT_EQ(numbers[static_cast<size_t>(count)], 99);
        }
    }
  }
}

TEST(NormalizedKeys, NumbersShortTextsWhereTheirBytesAreTooMany) {
  const Column texts = texts_of({"a0001", "a0100", "a0100", "a0001"});
  const Column ints = column_of<int64_t>({0, (1 << 24) - 1, 7, 7});
  const NormalizedKeys packed = NormalizedKeys::of("test", {texts, ints, texts, ints}, {});
  EXPECT_EQ(packed.domain(), uint64_t{1} << 50);  // side by side, not joined
  const Column back = packed.decode(2, normalized_of(packed), 4);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(back.string(i), texts.string(i));
}

TEST(NormalizedKeys, RefusesComplexNumbers) {
  const Column complex(TypeId::kComplex64, 1, Buffer::allocate_zeroed(8));
  EXPECT_THROW(NormalizedKeys::of("test", {complex}, {}), TypeMismatchError);
}

}  // namespace
}  // namespace hr
