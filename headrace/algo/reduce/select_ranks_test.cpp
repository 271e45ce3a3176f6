// SPDX-License-Identifier: Apache-2.0
// Selected values equal those of the sorted ones.
#include "headrace/algo/reduce/select_ranks.h"

#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hr {

namespace {

template <class T>
class SelectRanks : public testing::SimdAndThreadsTest {};

using Types = ::testing::Types<int8_t, uint16_t, int32_t, int64_t, float, double>;
TYPED_TEST_SUITE(SelectRanks, Types);

template <class T>
void check(const std::vector<T>& values) {
  std::vector<T> sorted;
  for (const T value : values)
    if (value == value) sorted.push_back(value);
  std::sort(sorted.begin(), sorted.end());
  const auto present = static_cast<int64_t>(sorted.size());
  ASSERT_EQ(count_present(std::span(values)), present);
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > best_simd_level()) continue;
    set_simd_level(level);
    for (const double part : {0.0, 0.001, 0.25, 0.5, 0.9, 0.999, 1.0}) {
      const auto rank = static_cast<size_t>(part * static_cast<double>(present - 1));
      const auto [at, next] = select_ranks(std::span(values), present, static_cast<int64_t>(rank));
      ASSERT_EQ(at, sorted[rank]);
      ASSERT_EQ(next, sorted[std::min(rank + 1, sorted.size() - 1)]);
    }
  }
}

TYPED_TEST(SelectRanks, EqualsSorting) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  for (const size_t rows : {size_t{1}, size_t{2}, size_t{4095}, size_t{4096}, size_t{300'001}}) {
    std::vector<T> values(rows);
    // Random, of few kinds, in order, all the same, in waves that a sample could miss.
    for (T& value : values) value = static_cast<T>(random());
    check(values);
    for (T& value : values) value = static_cast<T>(random() % 3);
    check(values);
    std::sort(values.begin(), values.end());
    check(values);
    for (size_t i = 0; i < rows; ++i) values[i] = static_cast<T>(i % 64 == 0 ? 100 : i % 7);
    check(values);
    std::fill(values.begin(), values.end(), T{1});
    check(values);
    if constexpr (std::numeric_limits<T>::has_infinity) {
      for (size_t i = 0; i < rows; ++i)
        values[i] = i % 5 == 1   ? std::numeric_limits<T>::quiet_NaN()
                    : i % 5 == 2 ? -std::numeric_limits<T>::infinity()
                    : i % 5 == 3 ? std::numeric_limits<T>::infinity()
                                 : static_cast<T>(random() % 1000);
      check(values);
    }
  }
}

class SelectRanksOfHardOnes : public testing::SimdAndThreadsTest {};

// The values that a sample takes say little of the others: the answer is still right.
TEST_F(SelectRanksOfHardOnes, EqualsSorting) {
  std::vector<double> values(100'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * i) % 9973);
  std::nth_element(values.begin(), values.begin() + 50'000, values.end());
  check(values);
  std::vector<double> heavy(100'000, 5.0);
  for (size_t i = 0; i < 100; ++i) heavy[i * 997] = i % 2 == 0 ? 4.0 : 6.0;
  check(heavy);
}

}  // namespace

}  // namespace hr
