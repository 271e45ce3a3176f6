// SPDX-License-Identifier: Apache-2.0
// Exponentially weighted statistics against sums over all rows before.
#include "headrace/algo/scan/ewm.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace hr {

namespace {

Column doubles(const std::vector<double>& values) {
  Buffer buffer = Buffer::allocate(8 * static_cast<int64_t>(values.size()));
  if (!values.empty()) std::memcpy(buffer.mutable_as<double>(), values.data(), 8 * values.size());
  return Column(TypeId::kFloat64, static_cast<int64_t>(values.size()), std::move(buffer));
}

std::vector<double> random_values(int64_t count, bool missing, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (int64_t row = 0; row < count; ++row)
    values.push_back(missing && random() % 4 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                  : static_cast<double>(random() % 100));
  return values;
}

// The definition: weights decay^k of the rows before, of adjusted means and variances.
void compare(int64_t count, bool missing, bool ignore_na) {
  const std::vector<double> values = random_values(count, missing, 3);
  EwmOptions options{.decay = 0.7, .ignore_na = ignore_na};
  const Column column = doubles(values);
  const Segments segments(count);
  const Column mean = ewm(column, nullptr, nullptr, options, segments);
  options.statistic = EwmStatistic::kVariance;
  options.bias = true;
  const Column variance = ewm(column, nullptr, nullptr, options, segments);
  for (int64_t row = 0; row < count; ++row) {
    double weight = 1, weights = 0, sum = 0, squares = 0;
    for (int64_t k = row; k >= 0; --k) {
      const double value = values[static_cast<size_t>(k)];
      const bool there = value == value;
      if (there) {
        weights += weight;
        sum += weight * value;
        squares += weight * value * value;
      }
      if (there || !ignore_na) weight *= options.decay;
    }
    ASSERT_EQ(mean.is_null(row), weights == 0);
    if (weights == 0) continue;
    const double expected = sum / weights;
    ASSERT_NEAR(mean.values<double>()[static_cast<size_t>(row)], expected, 1e-9);
    ASSERT_NEAR(variance.values<double>()[static_cast<size_t>(row)],
                squares / weights - expected * expected, 1e-8);
  }
}

TEST(Ewm, IsTheWeightedSumOverRowsBefore) {
  for (const int64_t count : {0, 1, 2, 63, 64, 65, 300})
    for (const bool missing : {false, true})
      for (const bool ignore_na : {false, true}) compare(count, missing, ignore_na);
}

TEST(Ewm, SegmentsAreApartForAnyThreads) {
  constexpr int64_t kRows = 300'000, kSegment = 70'001;
  const std::vector<double> values = random_values(kRows, true, 5);
  Buffer keys = Buffer::allocate(8 * kRows);
  for (int64_t row = 0; row < kRows; ++row)
    keys.mutable_as<uint64_t>()[row] = static_cast<uint64_t>(row / kSegment);
  const Segments segments = Segments::of_keys(keys, kRows);
  const EwmOptions options{.adjust = false};
  const Column whole = ewm(doubles(values), nullptr, nullptr, options, segments);
  for (int64_t begin = 0; begin < kRows; begin += kSegment) {
    const int64_t end = std::min(kRows, begin + kSegment);
    const std::vector<double> part(values.begin() + begin, values.begin() + end);
    const Column alone = ewm(doubles(part), nullptr, nullptr, options, Segments(end - begin));
    ASSERT_EQ(std::memcmp(whole.values<double>().data() + begin, alone.values<double>().data(),
                          static_cast<size_t>(8 * (end - begin))),
              0);
  }
}

TEST(Ewm, RefusesTimesOutOfOrder) {
  Buffer buffer = Buffer::allocate(16);
  buffer.mutable_as<int64_t>()[0] = 2;
  buffer.mutable_as<int64_t>()[1] = 1;
  const Column times(TypeId::kInt64, 2, std::move(buffer));
  const EwmOptions options{.half_life = 1};
  EXPECT_THROW(ewm(doubles({1, 2}), nullptr, &times, options, Segments(2)), InvalidArgumentError);
  EXPECT_THROW(ewm_statistic_from_name("mode"), InvalidArgumentError);
}

}  // namespace

}  // namespace hr
