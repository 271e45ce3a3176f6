// SPDX-License-Identifier: Apache-2.0
// Functions within groups against a loop, with few keys (no sort) and with many.
#include "headrace/relational/order/window.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/relational/rows/row_nodes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace hr {

namespace {

class RunningInGroups : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, RunningInGroups, ::testing::Values(1, 2, 4));

TEST_P(RunningInGroups, MatchALoopForAnyNumberOfKeys) {
  std::mt19937_64 random(1);
  for (const int64_t distinct : {1, 3, 8191, 8192, 20'000}) {
    for (const int64_t rows : {0, 1, 65, 131'073}) {
      const auto size = static_cast<size_t>(rows);
      std::vector<int64_t> keys(size), values(size);
      std::vector<bool> known(size), valid(size);
      for (size_t i = 0; i < size; ++i) {
        keys[i] = static_cast<int64_t>(random() % static_cast<uint64_t>(distinct));
        values[i] = static_cast<int64_t>(random() % 2001) - 1000;
        known[i] = random() % 10 > 0, valid[i] = random() % 10 > 0;
      }
      const NodePtr key = lazy_value(testing::column_of(keys, known), "", 7),
                    column = lazy_value(testing::column_of(values, valid), "", 7);
      for (const bool drop_missing : {true, false}) {
        const NodePtr made =
            window_function({key}, {column}, CumulativeFunction{Aggregate::kSum}, drop_missing);
        const Column got = std::get<Table>(force(made)).column(0);
        ASSERT_EQ(got.num_rows(), rows);
        std::map<int64_t, int64_t> totals;
        for (size_t i = 0; i < size; ++i) {
          const bool has = valid[i] && (known[i] || !drop_missing);
          ASSERT_EQ(got.is_null(static_cast<int64_t>(i)), !has) << i << " of " << rows;
          if (!has) continue;
          const int64_t total = totals[known[i] ? keys[i] : -1] += values[i];
          ASSERT_EQ(got.values<int64_t>()[i], total) << i << " of " << rows << ", " << distinct;
        }
      }
    }
  }
}

}  // namespace

}  // namespace hr
