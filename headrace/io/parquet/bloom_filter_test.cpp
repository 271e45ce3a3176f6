// SPDX-License-Identifier: Apache-2.0
// Hashes that xxHash publishes, and how often a filter is wrong.
#include "headrace/io/parquet/bloom_filter.h"

#include <gtest/gtest.h>

#include <string>

namespace hr::parquet {
namespace {

TEST(BloomFilter, HashesAreThoseOfXxHash) {
  EXPECT_EQ(hash_bytes(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash_bytes("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash_bytes("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hash_bytes("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

TEST(BloomFilter, ANoIsCertainAndAYesRarelyWrong) {
  for (const int64_t count : {1, 10, 1000, 100'000}) {
    BloomFilter filter(count);
    for (int64_t i = 0; i < count; ++i) filter.add(hash_bytes(std::to_string(i)));
    for (int64_t i = 0; i < count; ++i) ASSERT_TRUE(filter.may_have(hash_bytes(std::to_string(i))));
    int64_t wrong = 0;
    for (int64_t i = 0; i < 10'000; ++i)
      wrong += filter.may_have(hash_bytes("x" + std::to_string(i)));
    EXPECT_LT(wrong, 200) << count;
    EXPECT_LE(std::ssize(filter.bytes()), 32 + 3 * count);
  }
  EXPECT_FALSE(BloomFilter(0).may_have(hash_bytes("a")));
}

}  // namespace
}  // namespace hr::parquet
