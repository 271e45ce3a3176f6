// SPDX-License-Identifier: Apache-2.0
// Values of groups as lists against a loop.
#include "headrace/relational/aggregate/group_lists.h"

#include "headrace/data/column_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <random>

namespace hr {

namespace {

class GroupLists : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, GroupLists, ::testing::Values(1, 2, 4));

TEST_P(GroupLists, ValuesOfAllSizesMatchALoop) {
  constexpr size_t kBefore = 2;  // rows that a slice leaves out
  std::mt19937_64 random(1);
  for (const size_t rows : {0, 1, 63, 64, 65, 131'073, 300'000}) {
    for (const size_t groups : {1, 7, 1000}) {
      std::vector<int64_t> values(rows + kBefore), numbers(rows + kBefore);
      std::vector<bool> there(rows + kBefore), known(rows + kBefore);
      std::vector<std::vector<size_t>> expected(groups);  // rows of each
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int64_t>(random());
        numbers[i] = static_cast<int64_t>(random() % groups);
        there[i] = random() % 5 > 0, known[i] = random() % 9 > 0;
        if (i >= kBefore && known[i]) expected[static_cast<size_t>(numbers[i])].push_back(i);
      }
      const auto count = static_cast<int64_t>(rows);
      const Column got = group_lists(testing::column_of(values, there).slice(kBefore, count),
                                     testing::column_of(numbers, known).slice(kBefore, count),
                                     static_cast<int64_t>(groups));
      ASSERT_EQ(got.num_rows(), static_cast<int64_t>(groups));
      for (size_t group = 0; group < groups; ++group) {
        const Column list = got.list(static_cast<int64_t>(group));
        ASSERT_EQ(list.num_rows(), static_cast<int64_t>(expected[group].size())) << rows;
        for (size_t i = 0; i < expected[group].size(); ++i) {
          const size_t row = expected[group][i];
          const bool is_null = list.is_null(static_cast<int64_t>(i));
          ASSERT_EQ(is_null, !there[row]) << i << " of group " << group;
          ASSERT_TRUE(is_null || list.values<int64_t>()[i] == values[row]) << i;
        }
      }
    }
  }
}

}  // namespace

}  // namespace hr
