// SPDX-License-Identifier: Apache-2.0
// quantile equals sorting and interpolating.
#include "headrace/algo/quantile.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hr {

namespace {

Column column_of(std::initializer_list<double> values) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size() * 8));
  std::copy(values.begin(), values.end(), buffer.mutable_as<double>());
  return Column(TypeId::kFloat64, static_cast<int64_t>(values.size()), buffer);
}

TEST(Quantile, InterpolatesBetweenRanks) {
  const double q[] = {0.75, 0, 0.5, 1, 0.25};
  const Tensor result = quantile(column_of({4, 1, 3, 2}), q);
  EXPECT_EQ(result.as<double>()[0], 3.25);
  EXPECT_EQ(result.as<double>()[1], 1);
  EXPECT_EQ(result.as<double>()[2], 2.5);
  EXPECT_EQ(result.as<double>()[3], 4);
  EXPECT_EQ(result.as<double>()[4], 1.75);
}

TEST(Quantile, SkipsNanAndTakesOneOrNoValue) {
  const double q[] = {0.5};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(quantile(column_of({nan, 7, nan}), q).as<double>()[0], 7);
  EXPECT_TRUE(std::isnan(quantile(column_of({nan}), q).as<double>()[0]));
  EXPECT_TRUE(std::isnan(quantile(Column(), q).as<double>()[0]));
}

TEST(Quantile, TakesAnInfinityForWhatItIs) {
  const double q[] = {0, 0.5, 0.75, 1}, half[] = {0.5};
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor result = quantile(column_of({infinity, 2, 1}), q);
  EXPECT_EQ(result.as<double>()[0], 1);
  EXPECT_EQ(result.as<double>()[1], 2);
  EXPECT_EQ(result.as<double>()[2], infinity);
  EXPECT_EQ(result.as<double>()[3], infinity);
  const auto middle = [&](double a, double b) {
    return quantile(column_of({a, b}), half).as<double>()[0];
  };
  EXPECT_EQ(middle(infinity, infinity), infinity);
  EXPECT_EQ(middle(-infinity, -infinity), -infinity);
  EXPECT_EQ(middle(-infinity, 1), -infinity);
  EXPECT_EQ(middle(-1.7e308, 1.7e308), 0);
  EXPECT_TRUE(std::isnan(middle(-infinity, infinity)));
}

TEST(Quantile, RefusesWhatHasNoAnswer) {
  const double q[] = {1.5};
  EXPECT_THROW(quantile(column_of({1}), q), InvalidArgumentError);
  EXPECT_THROW(quantile(Column::strings(0, {}, {}), q), TypeMismatchError);
}

}  // namespace

}  // namespace hr
