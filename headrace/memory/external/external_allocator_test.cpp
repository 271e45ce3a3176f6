// SPDX-License-Identifier: Apache-2.0
// Memory for other libraries: contents, accounts, tags, refusals, threads, fork.
#include "headrace/memory/external/external_allocator.h"

#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/log/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

constexpr size_t kSizes[] = {0,      1,      15,      16,      17,      63,     64,    65,
                             128,    129,    1024,    8191,    8192,    8193,   65536, 100000,
                             131072, 131073, 1 << 20, 4 << 20, 4194305, 9000000};

class External : public testing::Test {
 protected:
  External() : before_(used()) {}

  ~External() override {
    set_memory_limit(std::numeric_limits<int64_t>::max());
    trim_external();
    EXPECT_EQ(used(), before_);
    EXPECT_EQ(memory_statistics().external_bytes, 0);
    EXPECT_TRUE(external_holders().empty());
  }

  static int64_t used() { return memory_statistics().used_bytes; }

  int64_t before_;
};

TEST_F(External, BlocksAreApartAlignedAndKeepTheirBytes) {
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  for (int round = 0; round < 3; ++round)
    for (const size_t size : kSizes) {
      auto* const p = static_cast<unsigned char*>(external_allocate(size, 0));
      ASSERT_NE(p, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % (size > 1024 ? 64 : 16), 0u);
      EXPECT_GE(external_usable_bytes(p), size);
      EXPECT_LE(external_usable_bytes(p), std::max<size_t>(16, size + size / 4 + 64));
      std::memset(p, static_cast<int>(blocks.size()), external_usable_bytes(p));
      blocks.emplace_back(p, external_usable_bytes(p));
    }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [p, size] = blocks[i];
    EXPECT_TRUE(std::all_of(p, p + size, [&](unsigned char c) { return c == i; })) << size;
    external_free(p);
  }
}

TEST_F(External, ZeroedBlocksAreZeroAlsoWhenTheirMemoryWasUsed) {
  for (int round = 0; round < 2; ++round)
    for (const size_t size : kSizes) {
      auto* const p = static_cast<unsigned char*>(external_allocate_zeroed(size, 0));
      EXPECT_TRUE(std::all_of(p, p + size, [](unsigned char c) { return c == 0; })) << size;
      std::memset(p, 1, size);
      external_free(p);
    }
}

TEST_F(External, ZeroedPagesAreNotTouched) {
  constexpr size_t kBytes = size_t{256} << 20;
  auto* const p = static_cast<unsigned char*>(external_allocate_zeroed(kBytes, 0));
  auto* const page =
      reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(p) + 4095) & ~uintptr_t{4095});
  std::vector<unsigned char> pages((kBytes - 4096) / 4096);
  ASSERT_EQ(mincore(page, pages.size() * 4096, pages.data()), 0);
  // The header may have brought in one huge page.
  EXPECT_LE(std::count(pages.begin(), pages.end(), 1), 512);
  external_free(p);
}

TEST_F(External, ReallocationKeepsWhatBothHold) {
  for (const size_t from : kSizes)
    for (const size_t to : kSizes) {
      auto* p = static_cast<unsigned char*>(external_allocate(from, 0));
      for (size_t i = 0; i < from; ++i) p[i] = static_cast<unsigned char>(i * 7);
      p = static_cast<unsigned char*>(external_reallocate(p, to, 0));
      ASSERT_NE(p, nullptr);
      EXPECT_GE(external_usable_bytes(p), to);
      const size_t kept = std::min(from, to);
      bool same = true;
      for (size_t i = 0; i < kept; ++i) same = same && p[i] == static_cast<unsigned char>(i * 7);
      EXPECT_TRUE(same) << from << " to " << to;
      external_free(p);
    }
  void* const fresh = external_reallocate(nullptr, 100, 0);
  EXPECT_NE(fresh, nullptr);
  external_free(fresh);
  external_free(nullptr);
}

TEST_F(External, CountsAsUsedAndExternalAndByTag) {
  const Tag tag = intern_tag("numpy", "etl.py:41");
  const uint64_t serial = last_serial();
  void* const large = external_allocate(1000000, tag);
  void* const small = external_allocate(100, tag);
  void* const other = external_allocate(100, intern_tag("numpy", "etl.py:42"));
  EXPECT_GE(memory_statistics().external_bytes, 1000000 + 64);
  EXPECT_EQ(used() - before_, memory_statistics().external_bytes);

  const std::vector<Holder> holders = holders_since(serial);
  ASSERT_EQ(holders.size(), 3u);
  int64_t bytes = 0;
  for (const Holder& holder : holders) {
    EXPECT_TRUE(holder.external);
    EXPECT_EQ(holder.tag.op, "numpy");
    if (holder.tag.line == "etl.py:41") bytes += holder.bytes;
  }
  EXPECT_EQ(bytes, 1000064 + 112);
  EXPECT_TRUE(largest_holders(1)[0].external);

  const uint64_t later = last_serial();
  EXPECT_TRUE(holders_since(later).empty());
  external_free(other);
  void* const newest = external_allocate(100, tag);
  EXPECT_EQ(holders_since(later).size(), 1u);
  external_free(newest);
  external_free(small);
  external_free(large);
  EXPECT_TRUE(holders_since(serial).empty());
}

TEST_F(External, LogTellsLargeBlocksAndSlabs) {
  set_memory_trace(true);
  trim_external();
  const uint64_t first = next_memory_event();
  const Tag tag = intern_tag("numpy", "etl.py:43");
  void* const large = external_allocate(200000, tag);
  void* const small = external_allocate(100, tag);
  external_free(large);
  external_free(small);
  const std::vector<MemoryEvent> events = memory_events(first);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(tag_info(events[0].tag).line, "etl.py:43");
  EXPECT_EQ(tag_info(events[1].tag).op, "small arrays");
  EXPECT_EQ(events[1].bytes, 65536);
  EXPECT_EQ(events[2].action, MemoryAction::kFree);
}

TEST_F(External, SlabsThatWaitGiveWayToARequest) {
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(external_allocate(100000, 0));
  for (void* const block : blocks) external_free(block);
  EXPECT_GT(used() - before_, 1 << 20);
  set_memory_limit(used() + (1 << 20));
  void* const large = external_allocate(3 << 20, 0);
  EXPECT_NE(large, nullptr);
  external_free(large);
}

TEST_F(External, ABlockThatFitsNeedsNoRoomForASlab) {
  set_memory_limit(used() + 150000);
  void* const block = external_allocate(100000, 0);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(external_holders().size(), 1u);
  EXPECT_EQ(external_allocate(100000, 0), nullptr);
  external_free(block);
}

TEST_F(External, TheLimitRefusesAndTheNextCallWorks) {
  set_memory_limit(used() + (1 << 20));
  EXPECT_EQ(external_allocate(2 << 20, intern_tag("numpy", "etl.py:44")), nullptr);
  EXPECT_NE(last_refusal().find("numpy: out of memory: requested=2.1 MB"), std::string::npos);
  EXPECT_EQ(external_allocate_zeroed(8 << 20, 0), nullptr);
  EXPECT_EQ(external_allocate(std::numeric_limits<size_t>::max(), 0), nullptr);
  EXPECT_EQ(external_allocate_zeroed(std::numeric_limits<size_t>::max() - 100, 0), nullptr);
  void* const p = external_allocate(1000, 0);
  ASSERT_NE(p, nullptr);
  std::memset(p, 7, 1000);
  EXPECT_EQ(external_reallocate(p, 4 << 20, 0), nullptr);
  EXPECT_EQ(static_cast<unsigned char*>(p)[999], 7);
  std::vector<void*> blocks;
  while (void* const block = external_allocate(3000, 0)) blocks.push_back(block);
  EXPECT_LE(used(), memory_limit());
  EXPECT_GE(blocks.size(), 200u);
  for (void* const block : blocks) external_free(block);
  external_free(p);
}

TEST_F(External, RandomBlocksOfSeveralThreads) {
  constexpr int kThreads = 4;
  std::vector<std::vector<std::pair<void*, size_t>>> left(kThreads);
  const auto work = [&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    auto& blocks = left[static_cast<size_t>(thread)];
    for (int i = 0; i < 20000; ++i) {
      if (blocks.size() > 200 || (!blocks.empty() && random() % 2)) {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        const auto [p, size] = blocks.back();
        blocks.pop_back();
        for (size_t j = 0; j < size; j += 509)
          ASSERT_EQ(static_cast<unsigned char*>(p)[j], static_cast<unsigned char>(size));
        external_free(p);
      } else {
        const size_t size = random() % (size_t{1} << (random() % 18));
        void* const p = external_allocate(size, 0);
        ASSERT_NE(p, nullptr);
        std::memset(p, static_cast<int>(size), size);
        blocks.emplace_back(p, size);
      }
      if (i % 4096 == 0 && blocks.size() > 100) {
        EXPECT_FALSE(external_holders().empty());
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  for (const auto& blocks : left)  // by a thread that did not make them
    for (const auto& [p, size] : blocks) external_free(p);
}

TEST_F(External, AForkedChildGoesOn) {
  void* const p = external_allocate(100, 0);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) external_free(external_allocate(100, 0));
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      external_free(p);
      external_free(external_allocate(100, 0));
      _exit(external_allocate(1 << 20, 0) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
  external_free(p);
}

}  // namespace

}  // namespace hr
