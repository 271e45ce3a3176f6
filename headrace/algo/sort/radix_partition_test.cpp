// SPDX-License-Identifier: Apache-2.0
// Partition against a stable sort by bucket.
#include "headrace/algo/sort/radix_partition.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/spill/spill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace hr {
namespace {

Buffer bytes_of(int64_t rows, int64_t width, uint64_t seed) {
  Buffer buffer = Buffer::allocate(rows * width);
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < rows * width; ++i)
    buffer.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
  return buffer;
}

std::vector<uint16_t> some_buckets(int64_t rows, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint16_t> buckets(static_cast<size_t>(rows));
  for (uint16_t& bucket : buckets)
    bucket = static_cast<uint16_t>(random() % static_cast<uint64_t>(count));
  return buckets;
}

RadixPartition partition_by(const std::vector<uint16_t>& buckets, int64_t count) {
  return RadixPartition(static_cast<int64_t>(buckets.size()), count,
                        [&](int64_t begin, int64_t end, uint16_t* out) {
                          std::copy(buckets.begin() + begin, buckets.begin() + end, out);
                        },
                        {});
}

std::vector<int64_t> order_of(const std::vector<uint16_t>& buckets) {
  std::vector<int64_t> order(buckets.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return buckets[static_cast<size_t>(a)] < buckets[static_cast<size_t>(b)];
  });
  return order;
}

void expect_moved(const std::vector<uint16_t>& buckets, int64_t count) {
  const auto rows = static_cast<int64_t>(buckets.size());
  const std::vector<int64_t> order = order_of(buckets);
  const RadixPartition partition = partition_by(buckets, count);
  ASSERT_EQ(partition.begins().size(), static_cast<size_t>(count) + 1);
  for (int64_t bucket = 0; bucket < count; ++bucket)
    ASSERT_EQ(partition.size(bucket),
              std::count(buckets.begin(), buckets.end(), static_cast<uint16_t>(bucket)));
  for (const int64_t width : {1, 2, 4, 8, 16}) {
    const Buffer from = bytes_of(rows + 3, width, 7);
    const Buffer to = partition.moved(from, 3 * width, width);
    for (int64_t place = 0; place < rows; ++place)
      ASSERT_EQ(std::memcmp(to.data() + place * width,
                            from.data() + (order[static_cast<size_t>(place)] + 3) * width,
                            static_cast<size_t>(width)),
                0)
          << "width " << width << ", place " << place;
  }
  const Buffer numbers = partition.moved_rows(8);
  const Buffer short_numbers = partition.moved_rows(4);
  for (int64_t place = 0; place < rows; ++place) {
    ASSERT_EQ(numbers.as<int64_t>()[place], order[static_cast<size_t>(place)]);
    ASSERT_EQ(short_numbers.as<uint32_t>()[place], order[static_cast<size_t>(place)]);
  }
}

TEST(RadixPartition, IsAStableSortByBucket) {
  for (const int64_t rows : {int64_t{0}, int64_t{1}, int64_t{63}, int64_t{64}, int64_t{65},
                             kBlockRows + 1, kMorselRows - 1, kMorselRows + 1, 3 * kMorselRows})
    for (const int64_t count : {1, 2, 37}) expect_moved(some_buckets(rows, count, 11), count);
}

TEST(RadixPartition, TakesMostBucketsAndEmptyOnes) {
  expect_moved(some_buckets(2 * kMorselRows + 77, kMostBuckets, 12), kMostBuckets);
  expect_moved(std::vector<uint16_t>(kMorselRows + 5, 900), 1000);
}

TEST(RadixPartition, RefusesACountThatIsOutOfRange) {
  EXPECT_THROW(partition_by({}, 0), InvalidArgumentError);
  EXPECT_THROW(partition_by({}, kMostBuckets + 1), InvalidArgumentError);
}

TEST(RadixPartition, IsTheSameForAnyNumberOfThreads) {
  const int before = threads();
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    expect_moved(some_buckets(5 * kMorselRows + 9, 61, 13), 61);
  }
  set_threads(before);
}

TEST(RadixPartition, SpillsUnderALimit) {
  constexpr int64_t kRows = 16 * kMorselRows;
  const std::vector<uint16_t> buckets = some_buckets(kRows, 6, 14);
  const Buffer from = bytes_of(kRows, 8, 15);
  const Buffer expected = partition_by(buckets, 6).moved(from, 0, 8);
  from.seal();
  expected.seal();
  const int64_t limit = memory_limit();
  const int64_t evicted = spill_statistics().evicted_bytes;
  set_memory_limit(memory_statistics().used_bytes / 2);
  Buffer to;
  ASSERT_NO_THROW(to = partition_by(buckets, 6).moved(from, 0, 8));
  to.seal();
  EXPECT_EQ(std::memcmp(to.data(), expected.data(), static_cast<size_t>(kRows) * 8), 0);
  EXPECT_GT(spill_statistics().evicted_bytes, evicted);
  set_memory_limit(limit);
}

}  // namespace
}  // namespace hr
