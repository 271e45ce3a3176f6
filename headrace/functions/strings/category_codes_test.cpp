// SPDX-License-Identifier: Apache-2.0
// Codes against a map of the standard library.
#include "headrace/functions/strings/category_codes.h"

#include "headrace/algo/keys/hash_rows.h"
#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

namespace hr {
namespace {

using Strings = std::vector<std::string>;

Column string_column(const Strings& texts, const std::vector<bool>& valid = {}) {
  DictionaryBuilder builder;
  Buffer views = Buffer::allocate(static_cast<int64_t>(texts.size() * sizeof(StringView)));
  for (const std::string& text : texts) builder.add(text);
  const Column known = builder.values();
  for (size_t row = 0; row < texts.size(); ++row)
    views.mutable_as<StringView>()[row] =
        known.values<StringView>()[static_cast<size_t>(builder.find(texts[row]))];
  Buffer validity;
  if (!valid.empty())
    validity =
        testing::column_of<int32_t>(std::vector<int32_t>(texts.size()), valid).validity_buffer();
  return Column::strings(static_cast<int64_t>(texts.size()), views, known.text_buffers(), validity,
                         valid.empty() ? 0 : -1);
}

int32_t bucket(const std::string& text, int64_t buckets) {
  const Column one = string_column({text});
  const uint64_t hash = hash_rows(std::span(&one, 1)).values<uint64_t>()[0];
  return kFirstBucket + static_cast<int32_t>(hash % static_cast<uint64_t>(buckets));
}

std::string word(int64_t k) {
  return std::string(static_cast<size_t>(k % 40), 'w') + std::to_string(k);
}

class CategoryCodes : public testing::ThreadsTest {};

TEST_P(CategoryCodes, AreThoseOfAMap) {
  Strings known;
  std::unordered_map<std::string, int32_t> place;
  for (int64_t k = 0; k < 3001; k += 3) {
    known.push_back(word(k));
    place.emplace(known.back(), static_cast<int32_t>(place.size()));
  }
  const Column vocabulary = string_column(known);
  std::unordered_map<std::string, int32_t> of_seven;
  for (int64_t k = 0; k < 3001; ++k) of_seven.emplace(word(k), bucket(word(k), 7));
  for (const int64_t rows : {0, 1, 63, 64, 65, 131071, 131073, 300000}) {
    Strings texts;
    std::vector<bool> valid;
    for (int64_t row = 0; row < rows; ++row) {
      texts.push_back(word(row * 7919 % 3001));
      valid.push_back(row % 11 != 3);
    }
    const Column whole = string_column(texts, valid);
    for (const int64_t buckets : {1, 7}) {
      const int64_t begin = std::min<int64_t>(rows, 5 * (buckets - 1));
      const Column made = category_codes(whole.slice(begin, rows - begin), vocabulary, buckets);
      ASSERT_EQ(made.dtype(), Dtype(TypeId::kInt32));
      ASSERT_EQ(made.num_rows(), rows - begin);
      ASSERT_EQ(made.null_count(), 0);
      for (int64_t row = begin; row < rows; ++row) {
        const std::string& text = texts[static_cast<size_t>(row)];
        const auto found = place.find(text);
        int32_t code = kMissingCode;
        if (valid[static_cast<size_t>(row)])
          code = found == place.end()
                     ? (buckets == 1 ? kFirstBucket : of_seven.at(text))
                     : static_cast<int32_t>(kFirstBucket + buckets) + found->second;
        ASSERT_EQ(made.values<int32_t>()[static_cast<size_t>(row - begin)], code) << row;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, CategoryCodes, ::testing::Values(1, 2, 4));

std::vector<int32_t> codes_of(const Column& values, const Column& vocabulary) {
  const Column made = category_codes(values, vocabulary, 1);
  const auto codes = made.values<int32_t>();
  return {codes.begin(), codes.end()};
}

TEST(CategoryCodesOf, NumbersByValue) {
  using testing::column_of;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(codes_of(column_of<double>({-0.0, nan, 2.5, 7.0}, {true, true, true, false}),
                     column_of<double>({2.5, 0.0})),
            (std::vector<int32_t>{4, 1, 3, 1}));
  EXPECT_EQ(codes_of(column_of<int64_t>({9, -1, 4}), column_of<int64_t>({-1, 9})),
            (std::vector<int32_t>{4, 3, 2}));
}

TEST(CategoryCodesOf, CategoriesByTheirValues) {
  const DistinctValues distinct = distinct_values(string_column({"b", "a", "b", "c"}));
  const Column column = Column::categories(4, distinct.codes, distinct.dictionary);
  EXPECT_EQ(codes_of(column, string_column({"c", "b"})), (std::vector<int32_t>{4, 2, 4, 3}));
}

TEST(CategoryCodesOf, WrongVocabulariesAreRefused) {
  const Column texts = string_column({"a"});
  EXPECT_THROW(codes_of(texts, testing::column_of<int64_t>({1})), TypeMismatchError);
  EXPECT_THROW(codes_of(texts, string_column({"a", "b", "a"})), InvalidArgumentError);
  EXPECT_THROW(codes_of(texts, string_column({"a", "b"}, {true, false})), InvalidArgumentError);
  EXPECT_THROW(category_codes(texts, texts, 0), InvalidArgumentError);
  EXPECT_THROW(category_codes(texts, texts, int64_t{1} << 31), InvalidArgumentError);
  const Column decimals(Dtype::decimal(5, 2), 0, Buffer());
  EXPECT_THROW(category_codes(decimals, decimals, 1), UnsupportedError);
  EXPECT_EQ(codes_of(texts, texts), (std::vector<int32_t>{3}));
}

// Model files hold codes by these hashes.
TEST(CategoryCodesOf, BucketsStayAsTheyAre) {
  const Column texts = string_column({"a", "Zürich", "a word of more than sixteen bytes"});
  const Column made = category_codes(texts, string_column({}), 1000);
  const auto codes = made.values<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(codes.begin(), codes.end()), (std::vector<int32_t>{531, 291, 5}));
}

}  // namespace
}  // namespace hr
