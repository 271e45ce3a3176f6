// SPDX-License-Identifier: Apache-2.0
// The budget holds at every instant, counts everything, and its error says who holds what.
#include "headrace/memory/budget/budget.h"

#include "headrace/base/error.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

namespace hr {

namespace {

class Budget : public testing::Test {
 protected:
  ~Budget() override { set_memory_limit(std::numeric_limits<int64_t>::max()); }
};

TEST_F(Budget, CountsBuffersAndForeignBytesApart) {
  const int64_t before = memory_statistics().used_bytes;
  {
    const Buffer own = Buffer::allocate(1000);
    EXPECT_EQ(memory_statistics().used_bytes, before + 1024);
    int released = 0;
    {
      const Buffer foreign = Buffer::adopt(
          own.data(), 1000, {&released, [](void* p) noexcept { ++*static_cast<int*>(p); }});
      EXPECT_EQ(memory_statistics().foreign_bytes, 1000);
      EXPECT_EQ(memory_statistics().used_bytes, before + 1024);
      const Buffer shared = foreign;
    }
    EXPECT_EQ(released, 1);
    EXPECT_EQ(memory_statistics().foreign_bytes, 0);
  }
  EXPECT_EQ(memory_statistics().used_bytes, before);
}

TEST_F(Budget, ScopesNestWithTheirOwnPeaks) {
  const int64_t before = memory_statistics().used_bytes;
  const StatisticsScope outer;
  {
    const Buffer big = Buffer::allocate(1 << 20);
  }
  const StatisticsScope inner;
  {
    const Buffer small = Buffer::allocate(1 << 10);
  }
  EXPECT_EQ(outer.read().peak_bytes, before + (1 << 20));
  EXPECT_EQ(inner.read().peak_bytes, before + (1 << 10));
  EXPECT_EQ(outer.read().allocations, 2);
  EXPECT_EQ(inner.read().allocated_bytes, 1 << 10);
}

TEST_F(Budget, RefusesWhatDoesNotFitAndNamesTheHolders) {
  const ScopedTag tag(intern_tag("read_csv", "etl.py:12"));
  const Buffer held = Buffer::allocate(3 << 20);
  set_memory_limit(memory_statistics().used_bytes + (1 << 20));
  try {
    Buffer::allocate(2 << 20);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("read_csv: out of memory: requested=2.1 MB"), std::string::npos) << text;
    EXPECT_NE(text.find("3.1 MB read_csv at etl.py:12"), std::string::npos) << text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n') + 1, 15);
    EXPECT_EQ(error.requested_bytes, 2 << 20);
    EXPECT_EQ(error.limit_bytes, memory_limit());
  }
  EXPECT_NO_THROW(Buffer::allocate(1 << 19)) << "the next call works";
}

TEST_F(Budget, IsNeverExceededByThreads) {
  const int64_t start = memory_statistics().used_bytes;
  const int64_t limit = start + (1 << 20);
  set_memory_limit(limit);
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  std::atomic<bool> exceeded{false};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<Buffer> mine;
      for (int i = 0; i < 2000; ++i) {
        try {
          mine.push_back(Buffer::allocate(16 << 10));
        } catch (const OutOfMemoryError&) {
          ++refused;
          mine.clear();
        }
        if (memory_statistics().used_bytes > limit) exceeded = true;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(memory_statistics().used_bytes, start);
}

TEST_F(Budget, LeaksAreBuffersSinceASerial) {
  const uint64_t serial = last_serial();
  const ScopedTag tag(intern_tag("leaky", "job.py:3"));
  const Buffer leak = Buffer::allocate(100);
  const std::vector<Holder> found = holders_since(serial);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tag.line, "job.py:3");
  EXPECT_EQ(found[0].bytes, 128);
}

TEST_F(Budget, ShrinkGivesTheTailBack) {
  const int64_t before = memory_statistics().used_bytes;
  Buffer buffer = Buffer::allocate(64 << 20);
  std::fill_n(buffer.mutable_as<char>(), 64 << 20, 'x');
  buffer.shrink(100);
  EXPECT_EQ(memory_statistics().used_bytes, before + 128);
  EXPECT_EQ(buffer.as<char>()[99], 'x');
  EXPECT_EQ(buffer.as<char>()[100], 0);
}

TEST_F(Budget, SharedBuffersAreReadOnly) {
  Buffer buffer = Buffer::allocate(10);
  const Buffer second = buffer;
  EXPECT_THROW(buffer.mutable_data(), InternalError);
}

TEST_F(Budget, BytesAsText) {
  EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000);
  EXPECT_EQ(parse_bytes("2 GiB"), int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1.5kB"), 1500);
  EXPECT_EQ(parse_bytes("4096"), 4096);
  for (const char* bad : {"", "GB", "-1", "2XB", "1e30"})
    EXPECT_THROW(parse_bytes(bad), InvalidArgumentError) << bad;
  EXPECT_EQ(format_bytes(1'536'000), "1.5 MB");
}

TEST(Ledger, StaysShortOverALongLife) {
  clear_ledger();
  for (int i = 0; i < 200'000; ++i) record_copy("op", i % 2 ? "odd" : "even", 3, false);
  EXPECT_LE(ledger_entries().size(), 1u << 16);
  int64_t odd = 0;
  for (const LedgerEntry& entry : ledger_entries())
    if (entry.reason == "odd") odd += entry.bytes;
  EXPECT_EQ(odd, 300'000);
  EXPECT_EQ(ledger_bytes(), 600'000);
  clear_ledger();
}

TEST(Ledger, RefusesUnaskedCopiesOnly) {
  clear_ledger();
  record_copy("to_numpy", "nulls become NaN", 80, true);
  {
    const NoCopies guard;
    EXPECT_THROW(record_copy("reshape", "not contiguous", 8, false), InvalidArgumentError);
    record_copy("astype", "asked", 8, true);
    const NoCopies strict(true);
    EXPECT_THROW(record_copy("astype", "asked", 8, true), InvalidArgumentError);
  }
  record_copy("reshape", "not contiguous", 8, false);
  EXPECT_EQ(ledger_bytes(), 96);
  EXPECT_EQ(ledger_entries().size(), 3u);
  clear_ledger();
}

}  // namespace

}  // namespace hr
