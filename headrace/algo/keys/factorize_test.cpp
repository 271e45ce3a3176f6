// SPDX-License-Identifier: Apache-2.0
// Keys get the numbers that a single pass over the rows would give them.
#include "headrace/algo/keys/factorize.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace hr {
namespace {

FactorizedKeys number(const std::vector<uint64_t>& keys, int64_t most) {
  return factorize(
      static_cast<int64_t>(keys.size()),
      [&](int64_t row, int64_t count, uint64_t* out) {
        std::copy_n(keys.begin() + row, count, out);
      },
      {}, most);
}

TEST(Factorize, EqualsOneWalkOverTheRows) {
  std::mt19937_64 random(1);
  for (const int64_t rows : {0L, 1L, 65L, kMorselRows, 5 * kMorselRows + 17})
    for (const uint64_t groups : {1u, 100u, 50'000u})
      for (const int count : {1, 2, 4}) {
        set_threads(count);
        std::vector<uint64_t> keys;
        for (int64_t i = 0; i < rows; ++i)  // new ones in each morsel
          keys.push_back(random() % groups * 0x9E3779B97F4A7C15u +
                         static_cast<uint64_t>(i / kMorselRows));
        const FactorizedKeys numbered = number(keys, INT64_MAX);
        std::unordered_map<uint64_t, uint32_t> first;
        for (int64_t i = 0; i < rows; ++i) {
          const uint64_t key = keys[static_cast<size_t>(i)];
          const uint32_t wanted = first.emplace(key, first.size()).first->second;
          ASSERT_EQ(numbered.numbers.as<uint32_t>()[i], wanted) << i;
          ASSERT_EQ(numbered.table.keys()[wanted], key);
        }
        ASSERT_EQ(numbered.table.size(), first.size());
      }
}

TEST(Factorize, MostFrequentKeyOfASample) {
  EXPECT_EQ(most_times({}), 0);
  EXPECT_EQ(most_times({7}), 1);
  EXPECT_EQ(most_times({7, 0, 7, 1, 7, 0}), 3);
}

TEST(Factorize, GivesUpByTheKeysAlone) {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 3 * kMorselRows; ++i) keys.push_back(i);
  EXPECT_FALSE(number(keys, 1000).numbers);
  EXPECT_FALSE(number(keys, 2 * kMorselRows).numbers);
  EXPECT_TRUE(number(keys, 3 * kMorselRows).numbers);
  for (uint64_t& key : keys) key %= 1000;
  EXPECT_TRUE(number(keys, 1000).numbers);
  EXPECT_FALSE(number(keys, 999).numbers);
}

}  // namespace
}  // namespace hr
