// SPDX-License-Identifier: Apache-2.0
// Rows by key against a stable sort.
#include "headrace/algo/sort/rows_by_key.h"

#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace hr {
namespace {

class RowsByKeyTest : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, RowsByKeyTest, ::testing::Values(1, 2, 4));

template <class T>
Buffer buffer_of(const std::vector<T>& values) {
  Buffer made = Buffer::allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  if (!values.empty()) std::copy(values.begin(), values.end(), made.mutable_as<T>());
  return made;
}

TEST_P(RowsByKeyTest, IsAStableSort) {
  for (const int64_t rows : {0, 1, 64, 20000, 300000}) {
    for (const int64_t num_keys : {1, 2, 4096, 4097, 100000}) {
      std::mt19937_64 random(static_cast<uint64_t>(rows + num_keys));
      std::vector<uint32_t> keys(static_cast<size_t>(rows));
      // A third of the rows have one key: a hub.
      for (uint32_t& key : keys)
        key = random() % 3 == 0 ? static_cast<uint32_t>(num_keys / 2)
                                : static_cast<uint32_t>(random() % static_cast<uint64_t>(num_keys));
      std::vector<uint64_t> values(keys.size());
      for (uint64_t& value : values) value = random();
      const Buffer key_buffer = buffer_of(keys), value_buffer = buffer_of(values);
      const RowsByKey made = rows_by_key({&key_buffer}, rows, num_keys,
                                         std::vector<KeyedColumn>{{&value_buffer, 8}, {}});
      std::vector<uint32_t> order(keys.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {}, [&](uint32_t row) { return keys[row]; });
      const auto* offsets = made.offsets.as<int64_t>();
      ASSERT_EQ(offsets[0], 0);
      ASSERT_EQ(offsets[num_keys], rows);
      for (size_t i = 0; i < order.size(); ++i) {
        ASSERT_EQ(made.columns[0].as<uint64_t>()[i], values[order[i]]);
        ASSERT_LE(offsets[keys[order[i]]], static_cast<int64_t>(i));
        ASSERT_GT(offsets[keys[order[i]] + 1], static_cast<int64_t>(i));
      }
    }
  }
}

TEST_P(RowsByKeyTest, KeysGoAlongWithRows) {
  constexpr int64_t kKeys = 200000;
  const auto check = [](const std::vector<uint32_t>& keys) {
    std::vector<uint64_t> values(keys.size());
    std::iota(values.begin(), values.end(), 5);
    const Buffer key_buffer = buffer_of(keys), value_buffer = buffer_of(values);
    const auto rows = static_cast<int64_t>(keys.size());
    const RowsByKey made =
        rows_by_key({&key_buffer}, rows, kKeys, std::vector<KeyedColumn>{{&value_buffer, 8}, {}});
    std::vector<uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint32_t row) { return keys[row]; });
    const auto* offsets = made.offsets.as<int64_t>();
    for (size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(made.columns[0].as<uint64_t>()[i], order[i] + 5);
      ASSERT_EQ(made.columns[1].as<uint32_t>()[i], order[i]);
      ASSERT_LE(offsets[keys[order[i]]], static_cast<int64_t>(i));
      ASSERT_GT(offsets[keys[order[i]] + 1], static_cast<int64_t>(i));
    }
    ASSERT_EQ(offsets[0], 0);
    ASSERT_EQ(offsets[kKeys], rows);
    ASSERT_TRUE(std::is_sorted(offsets, offsets + kKeys + 1));
  };
  std::mt19937_64 random(11);
  std::vector<uint32_t> bands, hub, backwards;
  for (uint32_t row = 0; row < kKeys; ++row)
    for (uint32_t k = 0; k < 3; ++k) {
      bands.push_back(std::min<uint32_t>(row + static_cast<uint32_t>(random() % 100), kKeys - 1));
      backwards.push_back(kKeys - 1 - row);
      // Most rows, far from each other, have one key: chunks in its midst have nothing else.
      hub.push_back(row < 50000 ? row : row < 199000 ? 50000 : row);
    }
  check(bands);
  check(backwards);
  check(hub);
  bands[1000] = kKeys - 1;  // one alone is far
  check(bands);
}

TEST_P(RowsByKeyTest, NumbersRows) {
  std::mt19937_64 random(7);
  for (const int64_t rows : {100, 50000}) {
    std::vector<uint32_t> keys(static_cast<size_t>(rows));
    for (uint32_t& key : keys) key = static_cast<uint32_t>(random() % 10000);
    const Buffer key_buffer = buffer_of(keys);
    const RowsByKey made =
        rows_by_key({&key_buffer}, rows, 10000, std::vector<KeyedColumn>{{nullptr, 4}});
    std::vector<uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint32_t row) { return keys[row]; });
    for (size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(made.columns[0].as<uint32_t>()[i], order[i]);
  }
}

TEST_P(RowsByKeyTest, BoundedValuesMoveWithTheirKeys) {
  constexpr int64_t kRows = 300001, kKeys = 70000;
  for (const int64_t bound : {int64_t{1}, int64_t{1000}, int64_t{1} << 20, int64_t{1} << 32}) {
    std::mt19937_64 random(static_cast<uint64_t>(bound));
    std::vector<uint32_t> keys(kRows), values(kRows), others(kRows);
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = random() % 4 == 0 ? 5 : static_cast<uint32_t>(random() % kKeys);
      values[i] = static_cast<uint32_t>(random() % static_cast<uint64_t>(bound));
      others[i] = static_cast<uint32_t>(random());
    }
    values[0] = static_cast<uint32_t>(bound - 1);
    const Buffer key_buffer = buffer_of(keys), first = buffer_of(values),
                 second = buffer_of(others);
    std::vector<uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint32_t row) { return keys[row]; });
    const std::vector<std::vector<KeyedColumn>> cases{
        {{&first, 4, 0, bound}},
        {{&first, 4, 0, bound}, {&second, 4, 0, int64_t{1} << 32}},
        {{&first, 4, 0, bound}, {nullptr, 4}},
        {{nullptr, 4}, {&first, 4, 0, bound}}};
    for (const std::vector<KeyedColumn>& columns : cases) {
      bool was_read = false;
      const RowsByKey made =
          rows_by_key({&key_buffer}, kRows, kKeys, columns, [&] { was_read = true; });
      EXPECT_TRUE(was_read);
      const auto* offsets = made.offsets.as<int64_t>();
      ASSERT_EQ(offsets[0], 0);
      ASSERT_EQ(offsets[kKeys], kRows);
      for (size_t i = 0; i < order.size(); ++i) {
        for (size_t c = 0; c < columns.size(); ++c)
          ASSERT_EQ(made.columns[c].as<uint32_t>()[i],
                    columns[c].from ? columns[c].from->as<uint32_t>()[order[i]] : order[i]);
        ASSERT_LE(offsets[keys[order[i]]], static_cast<int64_t>(i));
        ASSERT_GT(offsets[keys[order[i]] + 1], static_cast<int64_t>(i));
      }
    }
  }
}

TEST_P(RowsByKeyTest, WideKeysBeginAnywhere) {
  for (const int64_t num_keys : {3, 50000}) {
    std::vector<uint64_t> keys(100001), values(100002);
    std::mt19937_64 random(9);
    for (uint64_t& key : keys) key = random() % static_cast<uint64_t>(num_keys);
    std::iota(values.begin(), values.end(), 0);
    const Buffer key_buffer = buffer_of(keys), value_buffer = buffer_of(values);
    const RowsByKey made = rows_by_key({&key_buffer, 8, 8}, 100000, num_keys,
                                       std::vector<KeyedColumn>{{&value_buffer, 8, 16}});
    std::vector<uint64_t> order(100000);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint64_t row) { return keys[row + 1]; });
    for (size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(made.columns[0].as<uint64_t>()[i], order[i] + 2);
  }
}

}  // namespace
}  // namespace hr
