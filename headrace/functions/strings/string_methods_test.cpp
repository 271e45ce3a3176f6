// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/strings/string_methods.h"

#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/functions/strings/string_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace hr {
namespace {

using ::testing::ElementsAre;
using Row = std::optional<std::string>;

constexpr std::nullopt_t kNone = std::nullopt;

NodePtr strings(const std::vector<Row>& rows) {
  std::vector<bool> valid;
  for (const Row& row : rows) valid.push_back(row.has_value());
  const Column like = testing::column_of(std::vector<int64_t>(rows.size()), valid);
  const Nulls null(like);
  const auto count = static_cast<int64_t>(rows.size());
  return lazy_value(build_strings(count, {reads(like)}, null, null.bitmap(count), [&] {
    return
        [&](int64_t row, StringBuilder& builder) { builder.add(*rows[static_cast<size_t>(row)]); };
  }));
}

std::vector<Row> rows_of(const NodePtr& node) {
  const Column column = std::get<Column>(force(node));
  std::vector<Row> rows;
  for (int64_t row = 0; row < column.num_rows(); ++row)
    rows.push_back(column.is_null(row) ? Row() : Row(column.string(row)));
  return rows;
}

std::vector<int> tests_of(const NodePtr& node) {  // -1: null
  const Column column = std::get<Column>(force(node));
  std::vector<int> rows;
  for (int64_t row = 0; row < column.num_rows(); ++row)
    rows.push_back(column.is_null(row) ? -1 : column.bit(row));
  return rows;
}

TEST(StringMethods, SliceAsPython) {
  const NodePtr column = strings({"abcdé", "a", kNone, ""});
  EXPECT_THAT(rows_of(slice_text(column, TextSlice{.begin = 1, .end = -1})),
              ElementsAre("bcd", "", kNone, ""));
  EXPECT_THAT(rows_of(slice_text(column, TextSlice{.step = -2})),
              ElementsAre("éca", "a", kNone, ""));
  EXPECT_THAT(rows_of(slice_text(column, TextSlice{.begin = 3, .end = 0, .step = -1})),
              ElementsAre("dcb", "", kNone, ""));
  EXPECT_THROW(slice_text(column, TextSlice{.step = 0}), InvalidArgumentError);
}

TEST(StringMethods, CharacterAtIsNullOutside) {
  const NodePtr column = strings({"aé", "b", kNone, ""});
  EXPECT_THAT(rows_of(character_at(column, 1)), ElementsAre("é", kNone, kNone, kNone));
  EXPECT_THAT(rows_of(character_at(column, -1)), ElementsAre("é", "b", kNone, kNone));
}

TEST(StringMethods, RemoveAffixes) {
  const NodePtr column = strings({"é_7", "7é", kNone});
  EXPECT_THAT(rows_of(remove_prefix(column, "é_")), ElementsAre("7", "7é", kNone));
  EXPECT_THAT(rows_of(remove_suffix(column, "é")), ElementsAre("é_7", "7", kNone));
  EXPECT_EQ(remove_suffix(column, ""), column);
  EXPECT_THAT(rows_of(strip_characters(column, {}, "7")), ElementsAre("é_", "é", kNone));
  EXPECT_THAT(rows_of(strip_characters(column, {}, "")), ElementsAre("é_7", "7é", kNone));
}

TEST(StringMethods, Capitalize) {
  EXPECT_THAT(rows_of(change_case(LetterCase::kCapitalize, strings({"anna", "ÉTÉ", kNone, ""}))),
              ElementsAre("Anna", "Été", kNone, ""));
}

TEST(StringMethods, PatternsMayBeLiteral) {
  const NodePtr column = strings({"a.b", "aXb", kNone});
  EXPECT_THAT(tests_of(contains_pattern(column, "a.b")), ElementsAre(1, 1, -1));
  EXPECT_THAT(tests_of(contains_pattern(column, "a.b", {.is_regex = false})),
              ElementsAre(1, 0, -1));
  EXPECT_THAT(tests_of(contains_pattern(column, "A.B", {.is_regex = false, .flags = "i"})),
              ElementsAre(1, 0, -1));
  EXPECT_THAT(rows_of(replace_pattern(column, "(a)", "\\1\\1", -1)),
              ElementsAre("aa.b", "aaXb", kNone));
  EXPECT_THAT(rows_of(replace_pattern(column, "A", "\\1", -1, {.is_regex = false, .flags = "i"})),
              ElementsAre("\\1.b", "\\1Xb", kNone));
}

TEST(StringMethods, TestAnyOfSeveral) {
  const NodePtr column = strings({"ab", "cd", "ef", kNone});
  const std::vector<std::string> patterns{"a", "e"};
  EXPECT_THAT(tests_of(test_text_any(TextTest::kStartsWith, column, patterns)),
              ElementsAre(1, 0, 1, -1));
  EXPECT_THROW(test_text_any(TextTest::kStartsWith, column, {}), InvalidArgumentError);
}

// Strings that follow each other in one buffer are searched together: shuffled ones are not.
TEST(StringMethods, SearchOfManyStringsFindsWhatOneFinds) {
  std::mt19937 random(7);
  const std::string letters = "abé ";
  for (const size_t count : {0, 1, 63, 64, 65, 3000}) {
    std::vector<Row> rows;
    for (size_t i = 0; i < count; ++i) {
      std::string text;
      for (size_t left = random() % (i % 7 == 0 ? 300 : 40); left > 0; --left)
        text += letters[random() % letters.size()];
      rows.push_back(i % 11 == 3 ? Row() : Row(text));
    }
    const Column made = std::get<Column>(force(strings(rows)));
    Buffer turn = Buffer::allocate(static_cast<int64_t>(8 * count));
    for (size_t i = 0; i < count; ++i)
      turn.mutable_as<int64_t>()[i] = static_cast<int64_t>(count - 1 - i);
    const auto rows_made = static_cast<int64_t>(count);
    const Column turned = gather(made, Tensor(TypeId::kInt64, {rows_made}, std::move(turn)));
    Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows_made));
    for (size_t i = 0; i < count; ++i)
      set_bit(bits.mutable_as<uint8_t>(), static_cast<int64_t>(i), random() % 3 > 0 || i < 128);
    const Column some(TypeId::kBool, rows_made, std::move(bits));
    const Mask mask(some);
    for (const std::string part : {"a", "ab", "aba", " ab a", "abababababababab"}) {
      for (const Column& column : {made, turned, made.slice(rows_made / 3, rows_made / 2)}) {
        const bool whole = column.num_rows() == rows_made;
        const Column has = test_text(TextTest::kContains, column, part),
                     masked = test_text(TextTest::kContains, column, part, whole ? &mask : nullptr),
                     both = test_text(TextTest::kLike, column, "%" + part + "%b%");
        for (int64_t row = 0; row < column.num_rows(); ++row) {
          ASSERT_EQ(has.is_null(row), column.is_null(row));
          if (column.is_null(row)) continue;
          const std::string_view text = column.string(row);
          const size_t found = text.find(part);
          ASSERT_EQ(has.bit(row), found != text.npos) << text << " " << part;
          ASSERT_EQ(masked.bit(row), has.bit(row) && (!whole || some.bit(row)));
          ASSERT_EQ(both.bit(row),
                    found != text.npos && text.find('b', found + part.size()) != text.npos)
              << text << " " << part;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hr
