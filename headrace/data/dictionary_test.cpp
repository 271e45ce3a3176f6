// SPDX-License-Identifier: Apache-2.0
// Dictionaries: codes in first-seen order, one object for equal contents, merging.
#include "headrace/data/dictionary.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace hr {

namespace {

DictionaryPtr dictionary(const std::vector<std::string>& words, bool ordered = false) {
  DictionaryBuilder builder;
  for (const std::string& word : words) builder.add(word);
  return builder.finish(ordered);
}

std::vector<std::string> words_of(const Column& column) {
  std::vector<std::string> words;
  for (int64_t row = 0; row < column.num_rows(); ++row)
    words.emplace_back(column.is_null(row) ? "<null>" : column.string(row));
  return words;
}

TEST(DictionaryBuilder, CodesEqualAMapsForTextsOfAllLengths) {
  std::mt19937_64 random(1);
  for (const int64_t count : {1, 63, 64, 65, 5000, 50'000}) {
    DictionaryBuilder builder;
    std::map<std::string, int32_t, std::less<>> known;
    std::vector<std::string> order;
    for (int64_t i = 0; i < count; ++i) {
      // Few letters and NULs: many strings differ in their length or one byte only.
      std::string word(random() % (i % 7 == 0 ? 40 : 18), '\0');
      for (char& c : word) c = "\0\0\0ab\xFF"[random() % 6];
      const auto [it, fresh] = known.try_emplace(word, static_cast<int32_t>(known.size()));
      if (fresh) order.push_back(word);
      ASSERT_EQ(builder.add(word), it->second);
    }
    ASSERT_EQ(builder.size(), static_cast<int32_t>(order.size()));
    EXPECT_EQ(words_of(builder.values()), order);
    EXPECT_EQ(words_of(builder.finish()->values()), order);
    EXPECT_EQ(builder.size(), 0);
    EXPECT_EQ(builder.add("again"), 0);
  }
}

TEST(DictionaryBuilder, ForgetsWhatCameLast) {
  std::mt19937_64 random(2);
  DictionaryBuilder builder;
  std::vector<std::string> order;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 50; ++i) {
      const std::string word = std::to_string(random() % 2000) + std::string(random() % 20, 'x');
      if (builder.add(word) == static_cast<int32_t>(order.size())) order.push_back(word);
    }
    order.resize(order.size() - std::min<size_t>(order.size(), random() % 48));
    builder.shrink(static_cast<int32_t>(order.size()));
    for (size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(builder.find(order[i]), static_cast<int32_t>(i));
    ASSERT_EQ(builder.find("never there"), -1);
  }
  EXPECT_EQ(words_of(builder.finish()->values()), order);
}

TEST(Dictionary, EqualContentsAreOneObject) {
  const DictionaryPtr a = dictionary({"low", "a rather high value"});
  EXPECT_EQ(a, dictionary({"low", "a rather high value"}));
  EXPECT_NE(a, dictionary({"a rather high value", "low"}));
  EXPECT_NE(a, dictionary({"low"}));
  EXPECT_NE(a, dictionary({"low", "a rather high valuf"}));
  const DictionaryPtr ordered = dictionary({"low", "a rather high value"}, true);
  EXPECT_NE(a, ordered);
  EXPECT_NE(a->id(), ordered->id());
  // From a slice of strings that lie elsewhere.
  const Column other = dictionary({"x", "low", "a rather high value"})->values().slice(1, 2);
  EXPECT_EQ(distinct_values(other).dictionary, a);
}

TEST(Dictionary, AnIdIsNotUsedAgain) {
  uint64_t id = dictionary({"gone"})->id();
  for (int i = 0; i < 200; ++i) {
    const uint64_t next = dictionary({"gone"})->id();
    EXPECT_GT(next, id);
    id = next;
  }
}

TEST(Dictionary, DistinctStringsKeepTheirPlace) {
  const Column strings = dictionary({"a", "b", "a text behind the view"})->values();
  const DistinctValues distinct = distinct_values(strings);
  EXPECT_FALSE(distinct.codes);
  EXPECT_EQ(distinct.dictionary->values().string(2).data(), strings.string(2).data());
}

TEST(Dictionary, RepeatsAndNullsAreTakenOut) {
  Buffer codes = Buffer::allocate(5 * 4);
  for (int i = 0; i < 5; ++i) codes.mutable_as<int32_t>()[i] = i % 2;
  Buffer views = Buffer::allocate(5 * 16);
  const Column two = dictionary({"a", "bb"})->values();
  for (int i = 0; i < 5; ++i)
    views.mutable_as<StringView>()[i] = two.values<StringView>()[static_cast<size_t>(i % 2)];
  Buffer validity = Buffer::allocate_zeroed(1);
  validity.mutable_as<uint8_t>()[0] = 0b11101;
  const DistinctValues distinct = distinct_values(Column::strings(5, views, {}, validity, -1));
  EXPECT_EQ(words_of(distinct.dictionary->values()), (std::vector<std::string>{"a", "bb"}));
  const auto* out = distinct.codes.as<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(out, out + 5), (std::vector<int32_t>{0, -1, 0, 1, 0}));
}

TEST(Dictionary, MergeKeepsFirstSeenOrder) {
  const DictionaryPtr a = dictionary({"a", "b"}), b = dictionary({"c", "b"});
  const MergedDictionary merged = merge_dictionaries({a, a, b});
  EXPECT_EQ(words_of(merged.dictionary->values()), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(merged.codes[0]);
  EXPECT_EQ(merged.codes[2].as<int32_t>()[0], 2);
  EXPECT_EQ(merged.codes[2].as<int32_t>()[1], 1);
  EXPECT_EQ(merge_dictionaries({b, b}).dictionary, b);
  EXPECT_EQ(merge_dictionaries({}).dictionary->size(), 0);
}

TEST(Column, CategoriesShareTheirDictionary) {
  Buffer codes = Buffer::allocate(4 * 4);
  for (int i = 0; i < 4; ++i) codes.mutable_as<int32_t>()[i] = i % 2;
  Buffer validity = Buffer::allocate_zeroed(1);
  validity.mutable_as<uint8_t>()[0] = 0b1011;
  const Column column = Column::categories(4, codes, dictionary({"low", "high"}), validity, -1);
  EXPECT_EQ(column.dtype(), Dtype(TypeId::kCategory));
  EXPECT_EQ(column.string(1), "high");
  const Column part = column.slice(1, 3);
  EXPECT_EQ(words_of(part), (std::vector<std::string>{"high", "<null>", "high"}));
  EXPECT_EQ(part.dictionary(), column.dictionary());
  EXPECT_EQ(Column(TypeId::kCategory, 0, {}).dictionary()->size(), 0);
  EXPECT_EQ(part.with_dtype(TypeId::kInt32).values<int32_t>()[0], 1);
  EXPECT_EQ(part.with_dtype(TypeId::kInt32).dictionary(), nullptr);
  EXPECT_THROW(part.with_dtype(TypeId::kInt64), InternalError);
  EXPECT_GE(column.size_bytes(), 16 + 1 + 32);
}

TEST(Column, DatesAreTheirIntegers) {
  Buffer days = Buffer::allocate(3 * 4);
  for (int i = 0; i < 3; ++i) days.mutable_as<int32_t>()[i] = i - 1;
  const Column column(TypeId::kDate, 3, days);
  EXPECT_EQ(column.with_dtype(TypeId::kInt32).values<int32_t>()[0], -1);
  EXPECT_EQ(column.with_dtype(TypeId::kInt32).with_dtype(TypeId::kDate).dtype(),
            Dtype(TypeId::kDate));
}

}  // namespace

}  // namespace hr
