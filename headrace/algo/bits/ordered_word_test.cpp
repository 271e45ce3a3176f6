// SPDX-License-Identifier: Apache-2.0
// Words compare as the numbers that they are made of, and give them back.
#include "headrace/algo/bits/ordered_word_math.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace hr {

namespace {

template <class T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{T{0}, T{1}, T{2}, Limits::lowest(), Limits::max(), Limits::min()};
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      values.push_back(static_cast<T>(std::normal_distribution<double>(0, 1e6)(random)));
    else
      values.push_back(static_cast<T>(random() >> (random() % 64)));
  }
  if constexpr (std::is_floating_point_v<T>)
    values.insert(values.end(),
                  {-Limits::infinity(), Limits::infinity(), Limits::denorm_min(), T{-1}, T{-0.0}});
  return values;
}

template <class T>
class OrderedWord : public ::testing::Test {};

using Numbers = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                 uint64_t, float, double>;
TYPED_TEST_SUITE(OrderedWord, Numbers);

}  // namespace

TYPED_TEST(OrderedWord, ComparesAsTheNumbers) {
  const std::vector<TypeParam> values = edges<TypeParam>();
  for (const TypeParam a : values)
    for (const TypeParam b : values) {
      EXPECT_EQ(ordered_word(a) < ordered_word(b), a < b) << +a << " " << +b;
      EXPECT_EQ(ordered_word(a) == ordered_word(b), a == b) << +a << " " << +b;
    }
}

TYPED_TEST(OrderedWord, GivesTheNumberBack) {
  for (const TypeParam value : edges<TypeParam>())
    EXPECT_EQ(value_of_ordered_word<TypeParam>(ordered_word(value)), value) << +value;
}

}  // namespace hr
