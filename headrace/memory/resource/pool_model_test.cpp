// SPDX-License-Identifier: Apache-2.0
// The pool under and over limits against a model, by random operations. HEADRACE_OPERATIONS says
// how many (100,000), HEADRACE_SEED which (1).
#include "headrace/base/error.h"
#include "headrace/memory/adaptors/adaptors.h"
#include "headrace/memory/adaptors/recording_adaptors.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/resource/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <thread>

namespace hr {

namespace {

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

const int64_t kOperations = from_environment("HEADRACE_OPERATIONS", 100'000);
const auto kSeed = static_cast<uint64_t>(from_environment("HEADRACE_SEED", 1));

// Live blocks as intervals. A block carries a number of its own in each 64 bytes.
class Model {
 public:
  void add(void* pointer, size_t bytes, uint64_t cookie) {
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    const auto next = blocks_.lower_bound(begin);
    ASSERT_TRUE(next == blocks_.end() || begin + bytes <= next->first) << "overlap";
    ASSERT_TRUE(next == blocks_.begin() ||
                std::prev(next)->first + std::prev(next)->second.bytes <= begin)
        << "overlap";
    for (size_t at = 0; at + 8 <= bytes; at += 64) word(begin, at) = cookie + at;
    blocks_.emplace_hint(next, begin, Block{bytes, cookie});
    order_.push_back(begin);
    used_ += static_cast<int64_t>(bytes);
    peak_ = std::max(peak_, used_);
  }

  // Takes a random block out, after a check of its contents.
  std::pair<void*, size_t> take(uint64_t draw) {
    std::swap(order_[draw % order_.size()], order_.back());
    const uintptr_t begin = order_.back();
    const Block block = blocks_.at(begin);
    for (size_t at = 0; at + 8 <= block.bytes; at += 64)
      EXPECT_EQ(word(begin, at), block.cookie + at) << "contents were lost";
    order_.pop_back();
    blocks_.erase(begin);
    used_ -= static_cast<int64_t>(block.bytes);
    return {reinterpret_cast<void*>(begin), block.bytes};
  }

  bool empty() const { return order_.empty(); }

  size_t size() const { return order_.size(); }

  int64_t used() const { return used_; }

  int64_t peak() const { return peak_; }

 private:
  struct Block {
    size_t bytes;
    uint64_t cookie;
  };

  static uint64_t& word(uintptr_t begin, size_t at) {
    return *reinterpret_cast<uint64_t*>(begin + at);
  }

  std::map<uintptr_t, Block> blocks_;
  std::vector<uintptr_t> order_;
  int64_t used_ = 0;
  int64_t peak_ = 0;
};

// As many blocks of each doubling, now and then a large one.
size_t random_size(std::mt19937_64& random, double most_exponent) {
  if (random() % 2000 == 0) return (size_t{4} << 20) + random() % (4 << 20);
  std::uniform_real_distribution<double> exponent(0, most_exponent);
  return static_cast<size_t>(std::exp2(exponent(random)));
}

TEST(PoolModel, BlocksStatisticsAndLimitsAgreeWithTheModel) {
  SCOPED_TRACE("HEADRACE_SEED=" + std::to_string(kSeed));
  constexpr int64_t kLimit = 24 << 20;
  constexpr int64_t kLimitBelow = 32 << 20;
  const auto below = std::make_shared<StatisticsAdaptor>(system_resource());
  const auto limit_below = std::make_shared<LimitAdaptor>(AnyResource(below), kLimitBelow);
  const auto pool = std::make_shared<PoolResource>(AnyResource(limit_below));
  const auto between = std::make_shared<StatisticsAdaptor>(AnyResource(pool));
  const auto limit = std::make_shared<LimitAdaptor>(AnyResource(between), kLimit);
  const auto statistics = std::make_shared<StatisticsAdaptor>(AnyResource(limit));
  std::mt19937_64 random(kSeed);
  Model model;
  int64_t refused = 0;
  for (int64_t i = 0; i < kOperations && !HasFatalFailure(); ++i) {
    if (i % 1000 == 0) {
      EXPECT_LE(between->read().peak_bytes, kLimit);
      EXPECT_LE(below->read().peak_bytes, kLimitBelow);
      EXPECT_EQ(below->read().used_bytes, limit_below->used_bytes());
    }
    if (i % 5000 == 0) pool->trim();
    if (!model.empty() && random() % 100 < (i / 3000 % 2 ? 40u : 58u)) {
      const auto [pointer, bytes] = model.take(random());
      statistics->deallocate(Stream{}, pointer, bytes, 64);
    } else {
      const size_t bytes = random_size(random, 18);
      try {
        model.add(statistics->allocate(Stream{}, bytes, 64), bytes, random());
      } catch (const OutOfMemoryError& error) {
        ++refused;
        const bool by_limit = model.used() + static_cast<int64_t>(bytes) > kLimit;
        // Below, whole classes count: up to a quarter more than asked.
        const bool by_limit_below =
            (model.used() + static_cast<int64_t>(bytes)) * 5 / 4 + 64 > kLimitBelow;
        ASSERT_TRUE(by_limit || by_limit_below) << error.what();
      }
    }
    ASSERT_EQ(statistics->read().used_bytes, model.used());
    ASSERT_EQ(limit->used_bytes(), model.used());
  }
  EXPECT_EQ(statistics->read().peak_bytes, model.peak());
  EXPECT_EQ(statistics->read().failures, refused);
  EXPECT_GT(refused, 0) << "the limits were never reached";
  while (!model.empty()) {
    const auto [pointer, bytes] = model.take(0);
    statistics->deallocate(Stream{}, pointer, bytes, 64);
  }
  EXPECT_EQ(between->read().used_bytes, 0);
  pool->trim();
  EXPECT_EQ(below->read().used_bytes, 0);
}

TEST(PoolModel, AgreesOnThreadsThatShareALimit) {
  SCOPED_TRACE("HEADRACE_SEED=" + std::to_string(kSeed));
  constexpr int64_t kLimit = 8 << 20;
  const auto below = std::make_shared<StatisticsAdaptor>(system_resource());
  const auto limit_below = std::make_shared<LimitAdaptor>(AnyResource(below), 2 * kLimit);
  const auto pool = std::make_shared<PoolResource>(AnyResource(limit_below));
  const auto between = std::make_shared<StatisticsAdaptor>(AnyResource(pool));
  const AnyResource limit(std::make_shared<LimitAdaptor>(AnyResource(between), kLimit));
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(kSeed + t);
      Model model;
      for (int64_t i = 0; i < kOperations / kThreads; ++i) {
        if (!model.empty() && random() % 100 < 45) {
          const auto [pointer, bytes] = model.take(random());
          limit.deallocate(Stream{}, pointer, bytes, 64);
          continue;
        }
        const size_t bytes = std::min(random_size(random, 17), size_t{2} << 20);
        try {
          model.add(limit.allocate(Stream{}, bytes, 64), bytes, random());
        } catch (const OutOfMemoryError& error) {
          // Live blocks take at most 5 / 4 * 8 MiB of the 16 below: what waits must have gone back.
          EXPECT_EQ(error.limit_bytes, kLimit) << error.what();
        }
      }
      while (!model.empty()) {
        const auto [pointer, bytes] = model.take(0);
        limit.deallocate(Stream{}, pointer, bytes, 64);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(between->read().peak_bytes, kLimit);
  EXPECT_LE(below->read().peak_bytes, 2 * kLimit);
  EXPECT_EQ(between->read().used_bytes, 0);
  pool->trim();
  EXPECT_EQ(below->read().used_bytes, 0);
}

// Sizes change all the time, so what waits has the wrong size as a rule.
TEST(PoolModel, NeverFailsAtNinetyPercentOfALimit) {
  constexpr int64_t kLimit = 64 << 20;
  const auto limit = std::make_shared<LimitAdaptor>(system_resource(), kLimit);
  PoolResource pool{AnyResource(limit)};
  std::mt19937_64 random(kSeed);
  std::vector<std::pair<void*, size_t>> blocks;
  const auto drop = [&](size_t i) {
    pool.deallocate(Stream{}, blocks[i].first, blocks[i].second, 64);
    blocks[i] = blocks.back();
    blocks.pop_back();
  };
  for (int64_t i = 0; i < 100'000; ++i) {
    // Each phase of 10,000 has its own sizes.
    const double most = 10 + static_cast<double>(i / 10'000 * 7 % 11);
    const size_t bytes = std::min(random_size(random, most), (size_t{2} << 20) - 1);
    const auto live = [&] { return limit->used_bytes() - pool.cached_bytes(); };
    const auto largest = static_cast<int64_t>(bytes + bytes / 4 + 64);
    while (live() + largest > kLimit / 10 * 9) drop(random() % blocks.size());
    ASSERT_NO_THROW(blocks.emplace_back(pool.allocate(Stream{}, bytes, 64), bytes)) << i;
  }
  while (!blocks.empty()) drop(0);
}

// The same for buffers under the budget, where bytes count as asked for.
TEST(PoolModel, BuffersFillNinetyPercentOfTheBudget) {
  const int64_t before = memory_statistics().used_bytes;
  constexpr int64_t kLimit = 64 << 20;
  set_memory_limit(before + kLimit);
  std::mt19937_64 random(kSeed);
  std::vector<Buffer> buffers;
  for (int64_t i = 0; i < 100'000; ++i) {
    const double most = 10 + static_cast<double>(i / 10'000 * 7 % 11);
    const auto bytes = static_cast<int64_t>(random_size(random, most));
    while (memory_statistics().used_bytes - before + bytes + 64 > kLimit / 10 * 9) {
      std::swap(buffers[random() % buffers.size()], buffers.back());
      buffers.pop_back();
    }
    ASSERT_NO_THROW(buffers.push_back(Buffer::allocate(bytes))) << i;
  }
  buffers.clear();
  set_memory_limit(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(memory_statistics().used_bytes, before);
}

}  // namespace

}  // namespace hr
