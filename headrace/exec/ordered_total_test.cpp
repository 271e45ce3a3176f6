// SPDX-License-Identifier: Apache-2.0
// Tasks get the total of those before them, and none hangs when one fails.
#include "headrace/exec/ordered_total.h"

#include "headrace/base/error.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hr {

namespace {

class OrderedTotalTest : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, OrderedTotalTest, ::testing::Values(1, 2, 4));

TEST_P(OrderedTotalTest, GivesTheTotalOfTheTasksBefore) {
  for (const int64_t count : {0, 1, 2, 1000}) {
    OrderedTotal total;
    std::vector<int64_t> before(static_cast<size_t>(count), -1);
    parallel_for(count, [&](int64_t i) {
      OrderedTotal::Turn turn(total, i);
      before[static_cast<size_t>(i)] = turn.add(i % 7).value();
    });
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(before[static_cast<size_t>(i)], sum) << i;
      sum += i % 7;
    }
  }
}

TEST_P(OrderedTotalTest, TasksBehindOneThatFailsGetNone) {
  OrderedTotal total;
  std::vector<int> behind(1000, 0);
  std::string what;
  try {
    parallel_for(1000, [&](int64_t i) {
      OrderedTotal::Turn turn(total, i);
      if (i == 500 || i == 501) throw_error<InvalidArgumentError>("test", "task", {{"index", i}});
      const bool has_total = turn.add(1).has_value();
      behind[static_cast<size_t>(i)] = has_total ? 1 : -1;
    });
  } catch (const InvalidArgumentError& error) {
    what = error.what();
  }
  EXPECT_NE(what.find("index=500"), std::string::npos) << what;
  for (size_t i = 0; i < 500; ++i) ASSERT_EQ(behind[i], 1) << i;
  for (size_t i = 500; i < 1000; ++i) ASSERT_NE(behind[i], 1) << i;
}

}  // namespace

}  // namespace hr
