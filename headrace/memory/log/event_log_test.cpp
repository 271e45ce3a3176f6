// SPDX-License-Identifier: Apache-2.0
// The event log tells every byte that buffers hold, in order, from any thread; the switch stops it.
#include "headrace/memory/log/event_log.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/memory/log/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace hr {

namespace {

int64_t used_by(const std::vector<MemoryEvent>& events) {
  int64_t used = 0;
  for (const MemoryEvent& event : events)
    used += event.action == MemoryAction::kAllocate ? event.bytes
            : event.action == MemoryAction::kFree   ? -event.bytes
                                                    : 0;
  return used;
}

TEST(EventLog, TellsABuffersLife) {
  const uint64_t first = next_memory_event();
  const ScopedTag tag(intern_tag("read_csv", "etl.py:7"));
  {
    Buffer buffer = Buffer::allocate(8'000'000);
    buffer.shrink(1000);
    const Buffer nothing = Buffer::allocate(0);
  }
  const std::vector<MemoryEvent> events = memory_events(first);
  ASSERT_EQ(events.size(), 4u);
  const MemoryAction actions[] = {MemoryAction::kAllocate, MemoryAction::kFree,
                                  MemoryAction::kAllocate, MemoryAction::kFree};
  const int64_t bytes[] = {8'000'000, 8'000'000, 1024, 1024};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(events[i].index, first + i);
    EXPECT_EQ(events[i].action, actions[i]);
    EXPECT_EQ(events[i].bytes, bytes[i]);
    EXPECT_EQ(events[i].pointer, events[0].pointer);
    EXPECT_EQ(events[i].thread, events[0].thread);
    EXPECT_EQ(tag_info(events[i].tag).line, "etl.py:7");
    EXPECT_GE(events[i].time_ns, events[0].time_ns);
    EXPECT_EQ(events[i].place, host);
  }
  EXPECT_STREQ(memory_action_name(MemoryAction::kAllocateFailure), "allocate failure");
}

TEST(EventLog, TellsWhatWasRefused) {
  const uint64_t first = next_memory_event();
  const int64_t before = memory_limit();
  set_memory_limit(memory_statistics().used_bytes + 100);
  EXPECT_THROW(Buffer::allocate(1 << 20), OutOfMemoryError);
  set_memory_limit(before);
  const std::vector<MemoryEvent> events = memory_events(first);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].action, MemoryAction::kAllocateFailure);
  EXPECT_EQ(events[0].bytes, 1 << 20);
  EXPECT_EQ(events[0].pointer, 0u);
}

TEST(EventLog, KeepsTheLastOnes) {
  const uint64_t first = next_memory_event();
  const auto many = static_cast<uint64_t>(kMemoryEventCapacity) + 1000;
  for (uint64_t i = 0; i < many; ++i)
    log_memory_event(MemoryAction::kAllocate, nullptr, static_cast<int64_t>(i), 0);
  const std::vector<MemoryEvent> events = memory_events(first);
  ASSERT_EQ(events.size(), static_cast<size_t>(kMemoryEventCapacity));
  EXPECT_EQ(events.front().bytes, 1000);
  EXPECT_EQ(events.front().index, first + 1000);
  EXPECT_EQ(events.back().bytes, static_cast<int64_t>(many) - 1);
}

TEST(EventLog, TakesEventsOfManyThreadsWhileOthersRead) {
  const uint64_t first = next_memory_event();
  std::vector<std::thread> threads;
  std::atomic<int> running{4};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4000; ++i) {
        const Buffer buffer = Buffer::allocate(64 * (t + 1));
      }
      --running;
    });
  while (running > 0)
    for (const MemoryEvent& event : memory_events(first)) ASSERT_LE(event.bytes, 256);
  for (std::thread& thread : threads) thread.join();
  const std::vector<MemoryEvent> events = memory_events(first);
  ASSERT_EQ(events.size(), 4u * 4000 * 2);
  EXPECT_EQ(used_by(events), 0);
  // A block is never handed out twice at once.
  std::map<uint64_t, bool> held;
  std::map<uint32_t, int64_t> of_thread;
  for (const MemoryEvent& event : events) {
    const bool allocate = event.action == MemoryAction::kAllocate;
    EXPECT_NE(held[event.pointer], allocate);
    held[event.pointer] = allocate;
    if (allocate) of_thread[event.thread] += event.bytes;
  }
  ASSERT_EQ(of_thread.size(), 4u);
  int64_t sum = 0;
  for (const auto& [thread, bytes] : of_thread) sum += bytes;
  EXPECT_EQ(sum, 4000 * 64 * (1 + 2 + 3 + 4));
}

TEST(EventLog, TheSwitchStopsLogLedgerAndTagsButNoLimit) {
  ASSERT_TRUE(memory_trace());
  const int64_t copied = ledger_bytes();
  const uint64_t first = next_memory_event();
  const ScopedTag tag(intern_tag("op", "x.py:1"));
  set_memory_trace(false);
  {
    const Buffer buffer = Buffer::allocate(1000);
    EXPECT_EQ(buffer.tag(), 0u);
    EXPECT_EQ(largest_holders(1).front().bytes, 1024);
    EXPECT_EQ(intern_tag("other", "x.py:2"), 0u);
    record_copy("astype", "because", 100, false);
    const NoCopies none;
    EXPECT_THROW(record_copy("astype", "because", 100, false), InvalidArgumentError);
    const int64_t before = memory_limit();
    set_memory_limit(memory_statistics().used_bytes + 100);
    EXPECT_THROW(Buffer::allocate(1 << 20), OutOfMemoryError);
    set_memory_limit(before);
  }
  set_memory_trace(true);
  EXPECT_EQ(next_memory_event(), first);
  EXPECT_EQ(ledger_bytes(), copied);
  EXPECT_EQ(tag_info(current_tag()).line, "x.py:1");
}

}  // namespace

}  // namespace hr
