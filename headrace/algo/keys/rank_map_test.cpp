// SPDX-License-Identifier: Apache-2.0
// Ranks against a sorted set.
#include "headrace/algo/keys/rank_map.h"

#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <set>

namespace hr {
namespace {

class RankMapTest : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, RankMapTest, ::testing::Values(1, 2, 4));

TEST_P(RankMapTest, NumbersKeysInTheirOrder) {
  for (const int64_t rows : {0, 1, 63, 64, 65, 5000, 300000}) {
    for (const uint64_t width : {uint64_t{0}, uint64_t{63}, uint64_t{64}, uint64_t{1} << 20}) {
      std::mt19937_64 random(static_cast<uint64_t>(rows) + width);
      std::vector<uint64_t> keys(static_cast<size_t>(rows));
      for (uint64_t& key : keys) key = random() % (width + 1);
      const RankMap map(rows, width,
                        [&](int64_t row, int64_t count, uint64_t* out) {
                          std::copy_n(keys.begin() + row, count, out);
                        },
                        {});
      const std::set<uint64_t> sorted(keys.begin(), keys.end());
      ASSERT_EQ(map.size(), static_cast<int64_t>(sorted.size()));
      const Buffer listed = map.keys();
      uint64_t rank = 0;
      for (const uint64_t key : sorted) {
        ASSERT_TRUE(map.has(key));
        ASSERT_EQ(map.rank(key), rank);
        ASSERT_EQ(listed.as<uint64_t>()[rank++], key);
      }
      for (uint64_t key = 0; key <= std::min<uint64_t>(width, 200); ++key)
        ASSERT_EQ(map.has(key), sorted.contains(key));
    }
  }
}

}  // namespace
}  // namespace hr
