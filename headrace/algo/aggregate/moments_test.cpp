// SPDX-License-Identifier: Apache-2.0
#include "headrace/algo/aggregate/moments.h"

#include <gtest/gtest.h>

#include <vector>

namespace hr {
namespace {

// In two passes, in extended precision.
Moments naive(const std::vector<double>& values) {
  long double mean = 0, powers[5] = {};
  for (const double value : values) mean += value / static_cast<long double>(values.size());
  for (const double value : values) {
    long double power = 1;
    for (long double& sum : powers) {
      sum += power;
      power *= value - mean;
    }
  }
  return {static_cast<double>(powers[0]), static_cast<double>(mean), static_cast<double>(powers[2]),
          static_cast<double>(powers[3]), static_cast<double>(powers[4])};
}

void expect_near(const Moments& got, const Moments& expected) {
  EXPECT_EQ(got.count, expected.count);
  EXPECT_NEAR(got.mean, expected.mean, 1e-12);
  EXPECT_NEAR(got.squares, expected.squares, 1e-11 * expected.squares);
  EXPECT_NEAR(got.cubes, expected.cubes, 1e-11 * expected.fourths);
  EXPECT_NEAR(got.fourths, expected.fourths, 1e-11 * expected.fourths);
}

TEST(Moments, OfTwoSetsAreThoseOfAllValues) {
  std::vector<double> values;
  for (int k = 0; k < 40; ++k) values.push_back(k * k % 17 - 3.25 * (k % 5));
  for (size_t border = 0; border <= values.size(); ++border) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(border);
    const Moments a = border == 0 ? Moments() : naive({values.begin(), middle});
    const Moments b = border == values.size() ? Moments() : naive({middle, values.end()});
    expect_near(Moments::join(a, b), naive(values));
  }
}

TEST(Moments, DoNotDependOnARoundedMean) {
  const std::vector<double> values{1, 2, 4, 4.5, 7, 11};
  for (const double center : {4.9, 4.9167, 5.0}) {
    double powers[4] = {};
    for (const double value : values) {
      double power = value - center;
      for (double& sum : powers) {
        sum += power;
        power *= value - center;
      }
    }
    expect_near(Moments::of(6, center, powers), naive(values));
  }
}

TEST(Moments, OfFewOrEqualValuesAreNotANumber) {
  EXPECT_TRUE(std::isnan(naive({1, 2}).skewness()));
  EXPECT_TRUE(std::isnan(naive({1, 2, 4}).kurtosis()));
  EXPECT_NEAR(naive({1, 2, 5, 9}).skewness(), 0.888584, 1e-6);
  EXPECT_NEAR(naive({1, 2, 5, 9}).kurtosis(), -0.581894, 1e-6);
  const Moments equal = Moments::of(3, 0.5, {3e-9, 3e-18, 3e-27, 3e-36});
  EXPECT_EQ(equal.squares, 0);
  EXPECT_TRUE(std::isnan(equal.skewness()));
}

}  // namespace
}  // namespace hr
