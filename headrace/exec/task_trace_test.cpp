// SPDX-License-Identifier: Apache-2.0
// Traces hold every task once, with its thread, its outer task and its time.
#include "headrace/exec/task_trace.h"

#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>
#include <utility>

namespace hr {

namespace {

void work_for(int microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

class TaskTraces : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, TaskTraces, ::testing::Values(1, 2, 4));

TEST_P(TaskTraces, EveryTaskOnceWithItsOuterTask) {
  TaskTrace trace;
  parallel_for(6, [](int64_t) { parallel_for(5, [](int64_t) { work_for(50); }); });
  const std::vector<TaskRecord> tasks = trace.take();
  ASSERT_EQ(tasks.size(), 36u);
  std::set<std::pair<int64_t, int64_t>> seen;
  int outer = 0;
  for (const TaskRecord& task : tasks) {
    seen.emplace(task.job, task.index);
    EXPECT_LE(task.begin_ns, task.end_ns);
    EXPECT_LT(task.lane, 1024);
    if (task.outer_job >= 0) continue;
    ++outer;
    EXPECT_GT(task.processor_ns, 0);
  }
  EXPECT_EQ(seen.size(), 36u);
  EXPECT_EQ(outer, 6);
  for (const TaskRecord& task : tasks)
    EXPECT_TRUE(task.outer_job < 0 || seen.contains({task.outer_job, task.outer_index}));
}

TEST_P(TaskTraces, ProcessorTimeIsThatOfAllThreads) {
  const auto processor_ns = [] {  // of this thread: others may take the processors for a while
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const auto compute_for = [&](int64_t duration) {
    for (const int64_t end = processor_ns() + duration; processor_ns() < end;) {
    }
  };
  TaskTrace trace;
  compute_for(2'000'000);
  parallel_for(8, [&](int64_t) { compute_for(1'000'000); });
  EXPECT_GE(trace.processor_ns(), 10'000'000);
}

TEST(TaskTrace, OnlyWhatItsThreadStarts) {
  TaskTrace trace;
  std::thread([] { parallel_for(3, [](int64_t) {}); }).join();
  EXPECT_TRUE(trace.take().empty());
  {
    TaskTrace inner;
    parallel_for(3, [](int64_t) {});
    EXPECT_EQ(inner.take().size(), 3u);
  }
  parallel_for(2, [](int64_t) {});
  EXPECT_EQ(trace.take().size(), 2u);
}

TEST(TaskTrace, SerialIsWhereAtMostOneTaskRuns) {
  const auto task = [](int64_t begin, int64_t end) {
    TaskRecord record;
    record.begin_ns = begin;
    record.end_ns = end;
    record.processor_ns = 1;
    return record;
  };
  EXPECT_EQ(serial_ns({}, 10, 30), 20);
  EXPECT_EQ(serial_ns({task(12, 20), task(14, 18), task(15, 17)}, 10, 30), 16);
  TaskRecord inside = task(13, 19);
  inside.processor_ns = 0;  // of a thread that is counted
  EXPECT_EQ(serial_ns({task(12, 20), inside}, 10, 30), 20);
}

}  // namespace

}  // namespace hr
