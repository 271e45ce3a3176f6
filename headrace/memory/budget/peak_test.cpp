// SPDX-License-Identifier: Apache-2.0
// The sums by tag are those of the live buffers, and the peak knows who made it.
#include "headrace/memory/budget/peak.h"

#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

namespace hr {

namespace {

// Of those with a name: other tests log events without buffers.
std::map<std::string, int64_t> by_op(const std::vector<TagBytes>& holders) {
  std::map<std::string, int64_t> sums;
  for (const TagBytes& holder : holders)
    if (!holder.tag.op.empty()) sums[holder.tag.op] += holder.bytes;
  return sums;
}

Buffer make(std::string_view op, int64_t bytes) {
  const ScopedTag tag(intern_tag(op, "job.py:1"));
  return Buffer::allocate(bytes);
}

TEST(Peak, NamesWhoHeldMemoryThen) {
  const int64_t base = memory_statistics().peak_bytes;
  const int64_t before = std::chrono::system_clock::now().time_since_epoch().count();
  const Buffer kept = make("kept", base + 1'000'000);
  {
    const Buffer big = make("big", 50'000'000);
    const Buffer late = make("late", 64);  // less than 1 % more: not noted
  }
  const Buffer after = make("after", 10'000'000);
  const MemoryPeak peak = memory_peak();
  EXPECT_EQ(peak.bytes, memory_statistics().peak_bytes);
  EXPECT_GE(peak.noted_bytes, peak.bytes / 100 * 99);
  EXPECT_LE(peak.noted_bytes, peak.bytes);
  EXPECT_GE(peak.time_ns, before);
  auto sums = by_op(peak.holders);
  EXPECT_EQ(sums["kept"], (base + 1'000'000 + 63) / 64 * 64);
  EXPECT_EQ(sums["big"], 50'000'000);
  EXPECT_EQ(sums.count("late") + sums.count("after"), 0u);
  EXPECT_TRUE(std::is_sorted(peak.holders.begin(), peak.holders.end(),
                             [](auto& a, auto& b) { return a.bytes > b.bytes; }));
  for (const TagBytes& holder : peak.holders)
    EXPECT_TRUE(holder.tag.op != "big" || holder.tag.line == "job.py:1");
}

TEST(Peak, SumsAreThoseOfTheLiveBuffers) {
  std::vector<std::thread> threads;
  std::vector<Buffer> kept(4);
  for (size_t t = 0; t < kept.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        Buffer buffer = make("even " + std::to_string(t % 2), 64 * (i % 50 + 1));
        buffer.shrink(64 * (i % 7 + 1));
        kept[t] = buffer;
      }
    });
  for (std::thread& thread : threads) thread.join();
  kept[3] = Buffer();
  std::map<std::string, int64_t> held;
  for (const Holder& holder : largest_holders(1 << 20))
    if (!holder.foreign && !holder.tag.op.empty()) held[holder.tag.op] += holder.bytes;
  EXPECT_EQ(by_op(bytes_by_tag()), held);
  EXPECT_EQ(held.count("even 0") + held.count("even 1"), 2u);
}

}  // namespace

}  // namespace hr
