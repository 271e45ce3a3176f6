// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/strings/categories.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/functions/cast/format_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace hr {
namespace {

using ::testing::ElementsAre;

// "7", "5", "7", null
NodePtr categories() {
  const Column numbers = testing::column_of<int64_t>({7, 5, 7, 0}, {true, true, true, false});
  return cast(format_values(lazy_value(numbers)), TypeId::kCategory);
}

NodePtr strings(const std::vector<std::string>& values) {
  Buffer views = Buffer::allocate(static_cast<int64_t>(16 * values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    StringView view{};
    view.size = static_cast<uint32_t>(values[i].size());
    std::memcpy(view.inlined, values[i].data(), values[i].size());
    views.mutable_as<StringView>()[i] = view;
  }
  return lazy_value(Column::strings(static_cast<int64_t>(values.size()), std::move(views), {}));
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
  const auto column =
      std::get<Column>(force(set_categories(categories(), strings({"9", "7"}), true)));
  EXPECT_THAT(rows_of(column), ElementsAre("7", "-", "7", "-"));
  EXPECT_TRUE(column.dictionary()->is_ordered());
  EXPECT_EQ(column.dictionary()->values().string(0), "9");
  EXPECT_EQ(column.null_count(), 2);
  const auto none = std::get<Column>(force(set_categories(categories(), strings({}), false)));
  EXPECT_THAT(rows_of(none), ElementsAre("-", "-", "-", "-"));
  EXPECT_THROW(set_categories(categories(), strings({"a", "a"}), false), InvalidArgumentError);
}

TEST(Categories, AreSorted) {
  const auto column = std::get<Column>(force(sorted_categories(categories())));
  EXPECT_THAT(rows_of(column), ElementsAre("7", "5", "7", "-"));
  EXPECT_EQ(column.dictionary()->values().string(0), "5");
  const NodePtr numbers = lazy_value(testing::column_of<int64_t>({1}));
  EXPECT_THROW(sorted_categories(numbers), TypeMismatchError);
}

TEST(Categories, AreRenamed) {
  const auto column =
      std::get<Column>(force(rename_categories(categories(), strings({"5", "seven"}))));
  EXPECT_THAT(rows_of(column), ElementsAre("5", "seven", "5", "-"));
  EXPECT_THROW(force(rename_categories(categories(), strings({"a"}))), InvalidArgumentError);
  const NodePtr numbers = lazy_value(testing::column_of<int64_t>({1}));
  EXPECT_THROW(rename_categories(numbers, strings({"a"})), TypeMismatchError);
}

TEST(Categories, OfNumbersAreSortedSetAndCompared) {
  const Column numbers = testing::column_of<double>({1.5, -0.0, 0.0, NAN, 2.5});
  const NodePtr column =
      sorted_categories(cast(lazy_value(numbers), Dtype::category(TypeId::kFloat64)));
  const auto coded = std::get<Column>(force(column));
  EXPECT_EQ(coded.null_count(), 1);
  EXPECT_EQ(coded.dictionary()->size(), 3);
  const auto codes = coded.values<int32_t>();
  EXPECT_THAT(std::vector(codes.begin(), codes.begin() + 3), ElementsAre(1, 0, 0));
  EXPECT_THROW(force(compare_category(Op::kLess, column, Scalar(1.5))), TypeMismatchError);
  const NodePtr wanted = lazy_value(testing::column_of<double>({2.5, 0.0}));
  const NodePtr set = set_categories(column, wanted, true);
  EXPECT_EQ(std::get<Column>(force(set)).null_count(), 2);
  const auto less = std::get<Column>(force(compare_category(Op::kLess, set, Scalar(0.0))));
  EXPECT_TRUE(less.bit(4) && !less.bit(1));
  EXPECT_THROW(force(compare_category(Op::kLess, set, Scalar(7.0))), TypeMismatchError);
  const auto values = std::get<Column>(force(cast(column, TypeId::kFloat64)));
  EXPECT_EQ(values.values<double>()[4], 2.5);
  EXPECT_THROW(Dtype::category(Dtype::list(TypeId::kInt64)), UnsupportedError);
}

}  // namespace
}  // namespace hr
