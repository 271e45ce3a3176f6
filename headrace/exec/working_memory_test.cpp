// SPDX-License-Identifier: Apache-2.0
// Threads go down under a limit, never below one; what does not fit is refused before it starts.
#include "headrace/exec/working_memory.h"

#include "headrace/base/error.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/tag.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace hr {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

class WorkingMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override { set_threads(4); }

  void TearDown() override {
    set_threads(before_);
    set_memory_limit(std::numeric_limits<int64_t>::max());
  }

  static void leave(int64_t bytes) { set_memory_limit(memory_statistics().used_bytes + bytes); }

 private:
  int before_ = threads();
};

/// Threads that tasks ran on, all of which last long enough for others to come.
size_t threads_used(int64_t count) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(count, [&](int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return seen.size();
}

TEST_F(WorkingMemoryTest, ThreadsFollowTheLimit) {
  EXPECT_EQ(WorkingMemory({8 * kMib, 4 * kMib}).threads(), 4);
  for (const int fit : {1, 2, 3, 4, 9}) {
    leave((8 + 4 * fit) * kMib + kMib / 2);
    EXPECT_EQ(WorkingMemory({8 * kMib, 4 * kMib}).threads(), std::min(fit, 4)) << fit;
    EXPECT_EQ(WorkingMemory({8 * kMib, 0}).threads(), 4);
  }
}

TEST_F(WorkingMemoryTest, JobsHaveNoMoreThreads) {
  EXPECT_GT(threads_used(64), 2u);
  leave(9 * kMib);
  {
    const WorkingMemory working({0, 4 * kMib});
    EXPECT_EQ(working.threads(), 2);
    EXPECT_LE(threads_used(64), 2u);
    const WorkingMemory inner({0, 8 * kMib});
    EXPECT_EQ(threads_used(64), 1u);
  }
  EXPECT_GT(threads_used(64), 2u);
}

TEST_F(WorkingMemoryTest, WhatDoesNotFitIsRefused) {
  leave(4 * kMib);
  const ScopedTag tag("some_fit");
  const int64_t made = memory_statistics().allocations;
  try {
    const WorkingMemory working({3 * kMib, 2 * kMib});
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.requested_bytes, 5 * kMib);
    EXPECT_TRUE(std::string(error.what()).starts_with("some_fit: out of memory")) << error.what();
  }
  EXPECT_EQ(memory_statistics().allocations, made);
}

TEST_F(WorkingMemoryTest, WhatMayLeaveMakesRoom) {
  Buffer data = Buffer::allocate(32 * kMib);
  data.seal();
  set_memory_limit(memory_statistics().used_bytes + kMib);
  const WorkingMemory working({8 * kMib, 8 * kMib});
  EXPECT_EQ(working.threads(), 3);
  const Buffer scratch = Buffer::allocate(24 * kMib);
  EXPECT_LE(memory_statistics().used_bytes, memory_limit());
}

}  // namespace
}  // namespace hr
