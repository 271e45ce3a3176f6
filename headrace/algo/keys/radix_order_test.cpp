// SPDX-License-Identifier: Apache-2.0
// The order is that of a stable sort.
#include "headrace/algo/keys/radix_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace hr {
namespace {

TEST(RadixOrder, EqualsAStableSort) {
  std::mt19937_64 random(3);
  for (const int64_t count : {0, 1, 2, 63, 5000})
    for (const uint64_t mask : {uint64_t{0}, uint64_t{7}, uint64_t{0xFF00FF00}, ~uint64_t{0}}) {
      std::vector<uint64_t> keys(static_cast<size_t>(count));
      for (uint64_t& key : keys) key = random() & mask;
      std::vector<uint32_t> numbers(keys.size());
      std::iota(numbers.begin(), numbers.end(), 0u);
      std::vector<uint32_t> wanted = numbers;
      std::ranges::stable_sort(wanted, {}, [&](uint32_t i) { return keys[i]; });
      radix_order(keys.data(), numbers.data(), count);
      EXPECT_EQ(numbers, wanted);
    }
}

}  // namespace
}  // namespace hr
