// SPDX-License-Identifier: Apache-2.0
// Every resource: aligned blocks that never overlap, from any thread; the pool keeps and trims
// them.
#include "headrace/memory/resource/pool.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace hr {

namespace {

// Counts what its user holds, to see what a pool asks for.
class CountingResource {
 public:
  void* allocate(Stream s, size_t n, size_t a) {
    ++live;
    return system_resource().allocate(s, n, a);
  }

  void deallocate(Stream s, void* p, size_t n, size_t a) noexcept {
    --live;
    system_resource().deallocate(s, p, n, a);
  }

  MemoryProperties properties() const { return {}; }

  std::string describe() const { return "counting"; }

  std::atomic<int64_t> live{0};
};

// Random sizes, each block filled with its own cookie, freed in random order.
void exercise(const AnyResource& resource, unsigned seed, int operations) {
  struct Block {
    unsigned char* data;
    size_t size;
    unsigned char cookie;
  };

  std::mt19937 random(seed);
  std::vector<Block> blocks;
  const auto drop = [&](size_t i) {
    for (size_t k = 0; k < blocks[i].size; k += 61) ASSERT_EQ(blocks[i].data[k], blocks[i].cookie);
    resource.deallocate(Stream{}, blocks[i].data, blocks[i].size, 64);
    blocks[i] = blocks.back();
    blocks.pop_back();
  };
  for (int i = 0; i < operations; ++i) {
    if (blocks.size() > 40 || (!blocks.empty() && random() % 5 < 2)) {
      drop(random() % blocks.size());
      continue;
    }
    const size_t size = size_t{1} << (random() % 23);
    Block block{nullptr, size + random() % size, static_cast<unsigned char>(random())};
    block.data = static_cast<unsigned char*>(resource.allocate(Stream{}, block.size, 64));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block.data) % 64, 0u);
    std::memset(block.data, block.cookie, block.size);
    blocks.push_back(block);
  }
  while (!blocks.empty()) drop(blocks.size() - 1);
}

TEST(Resource, SystemBlocksAreDisjoint) {
  exercise(system_resource(), 1, 2000);
}

TEST(Resource, DefaultBlocksAreDisjointOnThreads) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t] { exercise(current_resource(), t, 1500); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Pool, ReusesAndTrims) {
  auto counting = std::make_shared<CountingResource>();
  {
    auto pool = std::make_shared<PoolResource>(AnyResource(counting));
    const AnyResource resource(pool);
    exercise(resource, 7, 3000);
    EXPECT_GT(counting->live, 0);
    EXPECT_GT(pool->cached_bytes(), 0);
    EXPECT_GT(pool->trim(), 0);
    EXPECT_EQ(pool->cached_bytes(), 0);
    EXPECT_EQ(counting->live, 0);
    void* first = resource.allocate(Stream{}, 5000, 64);
    resource.deallocate(Stream{}, first, 5000, 64);
    EXPECT_EQ(resource.allocate(Stream{}, 5100, 64), first);
    resource.deallocate(Stream{}, first, 5100, 64);
  }
  EXPECT_EQ(counting->live, 0) << "a pool gives all back when it goes";
}

TEST(Pool, KeepsNoMoreThanItsBound) {
  auto counting = std::make_shared<CountingResource>();
  PoolResource pool(AnyResource(counting), 1 << 20);
  void* block = pool.allocate(Stream{}, 8 << 20, 64);
  pool.deallocate(Stream{}, block, 8 << 20, 64);
  EXPECT_EQ(pool.cached_bytes(), 0);
  EXPECT_EQ(counting->live, 0);
}

TEST(Pool, MakesRoomForWhatWasGivenBackLast) {
  PoolResource pool(system_resource(), 1 << 20);
  const auto use = [&](size_t bytes) {
    void* block = pool.allocate(Stream{}, bytes, 64);
    pool.deallocate(Stream{}, block, bytes, 64);
    return block;
  };
  use(1 << 20);  // fills it, and is never asked for again
  void* const small = use(1 << 18);
  EXPECT_EQ(pool.cached_bytes(), 1 << 18);
  EXPECT_EQ(use(1 << 18), small);
  use(1 << 21);  // larger than all that may wait
  EXPECT_EQ(pool.cached_bytes(), 1 << 18);
  EXPECT_EQ(use(1 << 18), small);
}

TEST(Pool, CountsTheResidentPagesOfLargeBlocks) {
  PoolResource pool(system_resource());
  constexpr size_t kMega = size_t{1} << 20;
  const auto use = [&](size_t bytes, size_t touched) {
    auto* block = static_cast<char*>(pool.allocate(Stream{}, bytes, 64));
    std::memset(block, 1, touched);
    pool.deallocate(Stream{}, block, bytes, 64);
    return block;
  };
  char* const large = use(66 * kMega, 66 * kMega);  // its class holds 80
  EXPECT_EQ(pool.cached_bytes(), 66 * kMega);
  EXPECT_EQ(use(78 * kMega, 78 * kMega), large);
  EXPECT_EQ(pool.cached_bytes(), 78 * kMega);
  // Pages beyond a smaller request go back: they would not be counted.
  EXPECT_EQ(use(70 * kMega, 0), large);
  EXPECT_EQ(pool.cached_bytes(), 70 * kMega);
  // The block that fits best is taken.
  void* const first = pool.allocate(Stream{}, 70 * kMega, 64);
  void* const second = pool.allocate(Stream{}, 78 * kMega, 64);
  std::memset(second, 1, 78 * kMega);
  EXPECT_EQ(first, large);
  pool.deallocate(Stream{}, second, 78 * kMega, 64);
  pool.deallocate(Stream{}, first, 70 * kMega, 64);
  EXPECT_EQ(pool.allocate(Stream{}, 78 * kMega, 64), second);
  pool.deallocate(Stream{}, second, 78 * kMega, 64);
  EXPECT_EQ(pool.trim(), 148 * static_cast<int64_t>(kMega));
  EXPECT_EQ(pool.cached_bytes(), 0);
}

// Private pages of the process, as Linux counts them.
int64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (int64_t kilobytes = 0; word == "RssAnon:" && status >> kilobytes) return kilobytes << 10;
  return 0;
}

TEST(Pool, KeepsNoUncountedPagesUnderALimit) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer keeps what is freed";
#endif
  constexpr int64_t kMega = int64_t{1} << 20;
  set_memory_limit(memory_statistics().used_bytes + 64 * kMega);
  PoolResource pool(system_resource());
  constexpr size_t kBytes = 8 * kMega + kMega / 4;  // its class holds 10 MiB
  void* const block = pool.allocate(Stream{}, kBytes, 64);
  std::memset(block, 1, kBytes);
  pool.deallocate(Stream{}, block, kBytes, 64);
  EXPECT_EQ(pool.cached_bytes(), static_cast<int64_t>(kBytes));
  pool.trim();
  // Blocks of malloc, with one behind them that keeps it from giving its end back.
  const int64_t before = anonymous_bytes();
  std::vector<void*> blocks;
  constexpr size_t kSmall = 40'000;
  for (int i = 0; i < 1000; ++i) {
    blocks.push_back(pool.allocate(Stream{}, kSmall, 64));
    std::memset(blocks.back(), 1, kSmall);
  }
  EXPECT_GT(anonymous_bytes(), before + 30 * kMega);
  for (int i = 0; i < 999; ++i)
    pool.deallocate(Stream{}, blocks[static_cast<size_t>(i)], kSmall, 64);
  pool.trim();
  EXPECT_LT(anonymous_bytes(), before + 3 * kMega);
  pool.deallocate(Stream{}, blocks.back(), kSmall, 64);
  set_memory_limit(std::numeric_limits<int64_t>::max());
}

TEST(Resource, ScopesNestAndOldBuffersKeepTheirResource) {
  auto counting = std::make_shared<CountingResource>();
  void* block = nullptr;
  {
    const ScopedResource scope{AnyResource(counting)};
    EXPECT_EQ(current_resource(), current_resource());
    block = current_resource().allocate(Stream{}, 100, 64);
    EXPECT_EQ(counting->live, 1);
    const ScopedResource inner{system_resource()};
    EXPECT_EQ(current_resource(), system_resource());
  }
  AnyResource(counting).deallocate(Stream{}, block, 100, 64);
  EXPECT_EQ(counting->live, 0);
}

TEST(Resource, AnImpossibleRequestIsAnError) {
  EXPECT_THROW(system_resource().allocate(Stream{}, size_t{1} << 62, 64), OutOfMemoryError);
}

}  // namespace

}  // namespace hr
