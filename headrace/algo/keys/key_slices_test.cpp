// SPDX-License-Identifier: Apache-2.0
#include "headrace/algo/keys/key_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace hr {
namespace {

Column column_of(const std::vector<uint64_t>& keys) {
  const auto rows = static_cast<int64_t>(keys.size());
  Buffer values = Buffer::allocate(8 * rows);
  if (rows > 0) std::memcpy(values.mutable_data(), keys.data(), 8 * keys.size());
  values.seal();
  return Column(TypeId::kUInt64, rows, std::move(values));
}

// All rows once, keys of a slice below those of the next one, rows of a slice in their order.
void check(const std::vector<uint64_t>& keys, const KeySlices& slices) {
  std::vector<bool> seen(keys.size());
  uint64_t below = 0;
  int64_t begin = 0;
  for (int64_t slice = 0; slice < slices.count(); ++slice) {
    ASSERT_EQ(slices.begin(slice), begin);
    begin += slices.num_rows(slice);
    if (slices.num_rows(slice) == 0) continue;
    const Column own = slices.keys(slice);
    const Tensor rows = slices.rows(slice);
    const auto values = own.values<uint64_t>();
    for (int64_t k = 0; k < slices.num_rows(slice); ++k) {
      const int64_t row = rows.as<int64_t>()[k];
      ASSERT_EQ(values[static_cast<size_t>(k)], keys[static_cast<size_t>(row)]);
      ASSERT_FALSE(seen[static_cast<size_t>(row)]);
      seen[static_cast<size_t>(row)] = true;
      ASSERT_TRUE(k == 0 || rows.as<int64_t>()[k - 1] < row);
    }
    const auto [least, greatest] = std::ranges::minmax(values);
    ASSERT_TRUE(slice == 0 || below < least || least == 0);
    below = greatest;
  }
  ASSERT_EQ(begin, static_cast<int64_t>(keys.size()));
}

TEST(KeySlices, RangesAreEven) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> keys(100'000);
  for (uint64_t& key : keys) key = random();
  const Column column = column_of(keys);
  const KeySlices slices(column, range_borders(std::array{column}, 20));
  EXPECT_EQ(slices.count(), 20);
  for (int64_t slice = 0; slice < slices.count(); ++slice)
    EXPECT_LT(slices.num_rows(slice), 3 * 100'000 / 20 / 2);
  check(keys, slices);
}

TEST(KeySlices, AHeavyKeyHasARangeOfItsOwn) {
  std::mt19937_64 random(2);
  constexpr uint64_t kTop = std::numeric_limits<uint64_t>::max();
  for (const uint64_t heavy : {uint64_t{0}, uint64_t{500}, kTop}) {
    std::vector<uint64_t> keys(50'000);
    for (uint64_t& key : keys) key = random() % 10 < 8 ? heavy : random() % 1000;
    const Column column = column_of(keys);
    const KeySlices slices(column, range_borders(std::array{column}, 10));
    check(keys, slices);
    bool is_alone = false;
    for (int64_t slice = 0; slice < slices.count(); ++slice) {
      if (slices.num_rows(slice) == 0) continue;
      const Column own = slices.keys(slice);
      const auto [least, greatest] = std::ranges::minmax(own.values<uint64_t>());
      is_alone |= least == heavy && greatest == heavy;
    }
    EXPECT_TRUE(is_alone);
  }
}

TEST(KeySlices, SeveralColumnsShareRangesAndMayBeEmpty) {
  const std::vector<uint64_t> none, some{5, 1, 9, 5, 7};
  const std::array columns{column_of(none), column_of(some)};
  const std::vector<uint64_t> borders = range_borders(columns, 3);
  EXPECT_TRUE(std::ranges::is_sorted(borders));
  check(none, KeySlices(columns[0], borders));
  check(some, KeySlices(columns[1], borders));
  EXPECT_TRUE(range_borders(std::array{columns[0]}, 3).empty());
}

}  // namespace
}  // namespace hr
