// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/strings/string_methods.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/functions/strings/string_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hr
