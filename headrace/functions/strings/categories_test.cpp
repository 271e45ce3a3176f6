// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/strings/categories.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/functions/cast/format_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr {
namespace {

using ::testing::ElementsAre;

// "7", "5", "7", null
NodePtr categories() {
  const Column numbers = testing::column_of<int64_t>({7, 5, 7, 0}, {true, true, true, false});
  return cast(format_values(lazy_value(numbers)), TypeId::kCategory);
}

std::vector<std::string> rows_of(const Column& column) {
  std::vector<std::string> rows;
  for (int64_t row = 0; row < column.num_rows(); ++row)
    rows.emplace_back(column.is_null(row)
                          ? "-"
                          : column.dictionary()->values().string(
                                column.values<int32_t>()[static_cast<size_t>(row)]));
  return rows;
}

TEST(Categories, AreSetInAnOrder) {
  const auto column = std::get<Column>(force(set_categories(categories(), {"9", "7"}, true)));
  EXPECT_THAT(rows_of(column), ElementsAre("7", "-", "7", "-"));
  EXPECT_TRUE(column.dictionary()->is_ordered());
  EXPECT_EQ(column.dictionary()->values().string(0), "9");
  EXPECT_EQ(column.null_count(), 2);
  const auto none = std::get<Column>(force(set_categories(categories(), {}, false)));
  EXPECT_THAT(rows_of(none), ElementsAre("-", "-", "-", "-"));
  EXPECT_THROW(set_categories(categories(), {"a", "a"}, false), InvalidArgumentError);
}

TEST(Categories, AreSorted) {
  const auto column = std::get<Column>(force(sorted_categories(categories())));
  EXPECT_THAT(rows_of(column), ElementsAre("7", "5", "7", "-"));
  EXPECT_EQ(column.dictionary()->values().string(0), "5");
  const NodePtr numbers = lazy_value(testing::column_of<int64_t>({1}));
  EXPECT_THROW(sorted_categories(numbers), TypeMismatchError);
}

TEST(Categories, AreRenamed) {
  const auto column = std::get<Column>(force(rename_categories(categories(), {"5", "seven"})));
  EXPECT_THAT(rows_of(column), ElementsAre("5", "seven", "5", "-"));
  EXPECT_THROW(force(rename_categories(categories(), {"a"})), InvalidArgumentError);
  const NodePtr numbers = lazy_value(testing::column_of<int64_t>({1}));
  EXPECT_THROW(rename_categories(numbers, {"a"}), TypeMismatchError);
}

}  // namespace
}  // namespace hr
