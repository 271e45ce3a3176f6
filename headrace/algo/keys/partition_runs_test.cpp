// SPDX-License-Identifier: Apache-2.0
// Parts hold their rows in order, whatever the length of the runs.
#include "headrace/algo/keys/partition_runs.h"

#include "headrace/memory/budget/budget.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

void check(int64_t rows, int64_t partitions) {
  const auto key = [](int64_t row) { return static_cast<uint64_t>(row) * 0x9E3779B97F4A7C15u; };
  const PayloadStream keys{8, [&](int64_t row, int64_t count, void* out) {
                             for (int64_t i = 0; i < count; ++i)
                               static_cast<uint64_t*>(out)[i] = key(row + i);
                           }};
  const PayloadStream bytes{1, [&](int64_t row, int64_t count, void* out) {
                              for (int64_t i = 0; i < count; ++i)
                                static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(row + i);
                            }};
  const PartitionedRuns split = partition_runs(
      rows, partitions, keys, {keys, bytes}, [&](const uint64_t* k, int64_t count, uint16_t* to) {
        for (int64_t i = 0; i < count; ++i)
          to[i] = static_cast<uint16_t>(k[i] % static_cast<uint64_t>(partitions));
      });
  std::vector<std::vector<int64_t>> wanted(static_cast<size_t>(partitions));
  for (int64_t row = 0; row < rows; ++row)
    wanted[key(row) % static_cast<uint64_t>(partitions)].push_back(row);
  for (int64_t partition = 0; partition < partitions; ++partition) {
    const std::vector<int64_t>& own = wanted[static_cast<size_t>(partition)];
    ASSERT_EQ(split.rows_of(partition), static_cast<int64_t>(own.size()));
    std::vector<PinnedRange> ranges;
    split.append_ranges(partition, 0, 8, ranges);
    split.append_ranges(partition, 1, 1, ranges);
    const Pin pin(ranges);
    size_t at = 0;
    split.visit(partition, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < end - begin; ++i, ++at) {
        ASSERT_EQ(split.values<uint64_t>(0, begin)[i], key(own[at]));
        ASSERT_EQ(split.values<uint8_t>(1, begin)[i], static_cast<uint8_t>(own[at]));
      }
    });
  }
}

TEST(PartitionedRuns, KeepsTheOrderOfTheRows) {
  for (const int64_t rows : {0L, 1L, 63L, kMorselRows + 1, 3 * kMorselRows})
    for (const int64_t partitions : {1L, 7L, 300L}) check(rows, partitions);
}

TEST(PartitionedRuns, UnderALimitRunsAreLonger) {
  const int64_t before = memory_limit();
  set_memory_limit(memory_statistics().used_bytes + (24 << 20));
  check(20 * kMorselRows, 64);
  set_memory_limit(before);
}

}  // namespace
}  // namespace hr
