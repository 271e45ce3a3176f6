// SPDX-License-Identifier: Apache-2.0
// Rows that are put together.
#include "headrace/relational/rows/row_nodes.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

namespace hr {

namespace {

NodePtr number(auto value) {
  return lazy_value(scalar_tensor(value));
}

Column column(const NodePtr& node) {
  return std::get<Column>(force(node));
}

TEST(Stack, NumbersOfSeveralDtypesBecomeOneColumn) {
  const NodePtr made = stack({number(int8_t{-1}), number(2.5), number(true)});
  ASSERT_EQ(made->signature().dtype, Dtype(TypeId::kFloat64));
  const Column values = column(made);
  const auto numbers = values.values<double>();
  EXPECT_EQ(std::vector<double>(numbers.begin(), numbers.end()), (std::vector{-1.0, 2.5, 1.0}));
}

TEST(Stack, BoolsBecomeBits) {
  for (const int64_t rows : {1, 63, 64, 65}) {
    std::vector<NodePtr> values;
    for (int64_t i = 0; i < rows; ++i) values.push_back(number(i % 3 == 0));
    const NodePtr made = stack(values);
    ASSERT_EQ(column(made).num_rows(), rows);
    const Value sum = force(reduce(Aggregate::kSum, made));
    EXPECT_EQ(std::get<Tensor>(sum).item<int64_t>(), (rows + 2) / 3);
  }
}

TEST(Stack, WhatHasNoCommonDtypeIsRefused) {
  EXPECT_THROW(stack({}), InvalidArgumentError);
  EXPECT_THROW(stack({number(1.0), number(std::complex<double>(1))}), TypeMismatchError);
}

TEST(RowTotal, SumsAndCountsOfAllSizesMatchALoop) {
  constexpr int64_t kBefore = 3;  // rows that a slice leaves out
  std::mt19937_64 random(1);
  for (const int64_t rows : testing::edge_sizes()) {
    for (const size_t count : {size_t{1}, size_t{3}, size_t{11}}) {
      std::vector<double> sums(static_cast<size_t>(rows));
      std::vector<int64_t> counts(static_cast<size_t>(rows));
      std::vector<NodePtr> columns;
      for (size_t c = 0; c < count; ++c) {
        std::vector<double> values(static_cast<size_t>(rows + kBefore));
        std::vector<bool> valid(values.size(), true);
        for (size_t i = 0; i < values.size(); ++i) {
          values[i] = random() % 5 ? static_cast<double>(random() % 1000) / 7 : std::nan("");
          if (c % 2 == 0) valid[i] = random() % 4 > 0;
          if (i < kBefore || !valid[i] || std::isnan(values[i])) continue;
          sums[i - kBefore] += values[i], ++counts[i - kBefore];
        }
        columns.push_back(
            lazy_value(testing::column_of(values, valid).slice(kBefore, rows), "", 77));
      }
      EXPECT_TRUE(testing::same_for_any_threads([&] {
        const Column summed = column(row_total(columns, false));
        const Column counted = column(row_total(columns, true));
        EXPECT_EQ(summed.null_count() + counted.null_count(), 0);
        EXPECT_EQ(testing::values_of<double>(as_tensor(summed)), sums) << rows << " x " << count;
        EXPECT_EQ(testing::values_of<int64_t>(as_tensor(counted)), counts) << rows;
        return as_tensor(summed);
      }));
    }
  }
}

TEST(RowTotal, OtherDtypesAndOtherRowsAreRefused) {
  const NodePtr three = lazy_value(testing::column_of<double>({1, 2, 3}));
  EXPECT_THROW(row_total({three, lazy_value(testing::column_of<int64_t>({1, 2, 3}))}, false),
               TypeMismatchError);
  EXPECT_THROW(row_total({three, lazy_value(testing::column_of<double>({1, 2}))}, false),
               InvalidArgumentError);
}

TEST(FillMissing, ColumnsAndArraysOfANode) {
  const NodePtr gaps =
      lazy_value(testing::column_of<int64_t>({0, 5, 0, 7}, {false, true, false, true}));
  const Column forward = column(fill_missing(gaps, false));
  EXPECT_TRUE(forward.is_null(0));
  EXPECT_EQ(forward.values<int64_t>()[2], 5);
  const Column backward = column(fill_missing(gaps, true));
  EXPECT_EQ(backward.null_count(), 0);
  EXPECT_EQ(backward.values<int64_t>()[0], 5);
  EXPECT_EQ(backward.values<int64_t>()[2], 7);
  const NodePtr array = lazy_value(testing::tensor_of<double>({1, std::nan(""), 3}));
  EXPECT_EQ(column(fill_missing(array, false)).values<double>()[1], 1);
}

TEST(NotAt, IsTrueInAllOtherRows) {
  for (const int64_t rows : {0, 1, 7, 8, 63, 64, 65, 1025}) {
    std::vector<int32_t> at;
    for (int64_t row = 0; row < rows; row += 3) at.push_back(static_cast<int32_t>(row));
    const NodePtr over =
        lazy_value(testing::column_of(std::vector<double>(static_cast<size_t>(rows))));
    const Column made = column(not_at(over, lazy_value(testing::column_of(at))));
    ASSERT_EQ(made.num_rows(), rows);
    for (int64_t row = 0; row < rows; ++row) ASSERT_EQ(made.bit(row), row % 3 != 0) << row;
  }
}

}  // namespace

}  // namespace hr
