// SPDX-License-Identifier: Apache-2.0
// quantile equals sorting and interpolating.
#include "headrace/algo/reduce/quantile.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

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

TEST(Quantile, PicksOneOfTwoRanks) {
  const double q[] = {0, 0.25, 0.5, 0.75, 1};  // places 0, 0.75, 1.5, 2.25, 3
  const auto all = [&](std::string_view name) {
    const Tensor result = quantile(column_of({4, 1, 8, 2}), q, interpolation_from_name(name));
    return std::vector<double>(result.as<double>(), result.as<double>() + 5);
  };
  EXPECT_EQ(all("linear"), (std::vector<double>{1, 1.75, 3, 5, 8}));
  EXPECT_EQ(all("lower"), (std::vector<double>{1, 1, 2, 4, 8}));
  EXPECT_EQ(all("higher"), (std::vector<double>{1, 2, 4, 8, 8}));
  EXPECT_EQ(all("midpoint"), (std::vector<double>{1, 1.5, 3, 6, 8}));
  EXPECT_EQ(all("nearest"), (std::vector<double>{1, 2, 4, 4, 8}));
  EXPECT_THROW(interpolation_from_name("cubic"), InvalidArgumentError);
}

TEST(Quantile, KeepsTheDtypeOfWhatItPicks) {
  const double half[] = {0.5};
  const int64_t great = (int64_t{1} << 62) + 1;
  Buffer buffer = Buffer::allocate(24);
  const int64_t values[] = {great + 1, great, great - 1};
  std::copy(std::begin(values), std::end(values), buffer.mutable_as<int64_t>());
  const Tensor picked = quantile(Column(TypeId::kInt64, 3, buffer), half, Interpolation::kNearest);
  EXPECT_EQ(picked.dtype(), Dtype(TypeId::kInt64));
  EXPECT_EQ(picked.as<int64_t>()[0], great);
  EXPECT_THROW(quantile(Column(TypeId::kInt64, 0, {}), half, Interpolation::kLower),
               InvalidArgumentError);
}

TEST(Quantile, RefusesWhatHasNoAnswer) {
  const double q[] = {1.5};
  EXPECT_THROW(quantile(column_of({1}), q), InvalidArgumentError);
  EXPECT_THROW(quantile(Column::strings(0, {}, {}), q), TypeMismatchError);
}

}  // namespace

}  // namespace hr
