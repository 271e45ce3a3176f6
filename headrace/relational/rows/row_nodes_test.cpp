// SPDX-License-Identifier: Apache-2.0
// Rows that are put together.
#include "headrace/relational/rows/row_nodes.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <complex>

namespace hr {

namespace {

NodePtr number(auto value) {
  return lazy_value(scalar_tensor(value));
}

const Column& column(const NodePtr& node) {
  return std::get<Column>(force(node));
}

TEST(Stack, NumbersOfSeveralDtypesBecomeOneColumn) {
  const NodePtr made = stack({number(int8_t{-1}), number(2.5), number(true)});
  ASSERT_EQ(made->signature().dtype, Dtype(TypeId::kFloat64));
  const Column& values = column(made);
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

}  // namespace

}  // namespace hr
