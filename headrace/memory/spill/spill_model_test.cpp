// SPDX-License-Identifier: Apache-2.0
// Buffers under a limit against a model, random step by random step, from two threads at once:
// every byte is what was written last, and the limit holds at every instant.
#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/spill/spill.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace hr {
namespace {

constexpr int64_t kKib = int64_t{1} << 10;
constexpr int64_t kLimit = 2048 * kKib;  // over what is used before
constexpr int64_t kLargest = 1400 * kKib;
// It takes the step from memory to the disk, which changes no byte, for a write.
#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif
constexpr int64_t kBlock = 64 * kKib / 8;  // words that share a seed, and are written together

// A buffer and the seed of each block of its words.
struct Modelled {
  Buffer buffer;
  std::vector<uint64_t> seeds;
  Buffer shared{};  // a second handle: writing is not allowed then
};

uint64_t word_of(uint64_t seed, int64_t at) {
  return (seed + 1) * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(at) * 0xD6E8FEB86659FD93u;
}

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {}

  void steps(int64_t count) {
    for (done_ = 0; done_ < count && right_; ++done_) {
      try {
        step();
      } catch (const OutOfMemoryError&) {  // the other walk holds what is needed
        ++refused_;
        if (!live_.empty()) drop();
      }
      const MemoryStatistics now = memory_statistics();
      right_ &= now.used_bytes <= now.limit_bytes;
    }
  }

  bool right() const { return right_; }

  int64_t done() const { return done_; }

  int64_t refused() const { return refused_; }

 private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }

  Modelled& any() { return live_[static_cast<size_t>(below(static_cast<int64_t>(live_.size())))]; }

  void drop() {
    std::swap(any(), live_.back());
    live_.pop_back();
  }

  void step() {
    const int64_t dice = below(100);
    if (live_.size() < 2 || (dice < 10 && live_.size() < 8)) return make();
    if (dice < 15) return drop();
    if (dice < 20) return share(any());
    if (dice < 28) return rewrite(any());
    if (dice < 30) return any().buffer.advise(static_cast<EvictionHint>(below(4)));
    check(any(), dice < 80);
  }

  void make() {
    const int64_t words = 1 + below(kLargest / 8);
    Modelled made{below(3) ? Buffer::allocate_spillable(8 * words) : Buffer::allocate(8 * words),
                  {}};
    made.seeds.resize(static_cast<size_t>((words + kBlock - 1) / kBlock));
    for (size_t block = 0; block < made.seeds.size(); ++block) write(made, block);
    if (below(3) == 0 && words > 100) {
      const int64_t fewer = words - 1 - below(words / 2);
      made.buffer.shrink(8 * fewer);
      made.seeds.resize(static_cast<size_t>((fewer + kBlock - 1) / kBlock));
    }
    made.buffer.seal();
    live_.push_back(std::move(made));
  }

  void write(Modelled& of, size_t block) {
    const int64_t begin = static_cast<int64_t>(block) * kBlock;
    const int64_t end = std::min(begin + kBlock, of.buffer.size_bytes() / 8);
    auto* const words = of.buffer.mutable_as<uint64_t>();
    const Pin pin{{&of.buffer, 8 * begin, 8 * end, true}};
    of.seeds[block] = random_();
    for (int64_t i = begin; i < end; ++i) words[i] = word_of(of.seeds[block], i);
  }

  // The maker takes it back, changes a part, and seals it again.
  void rewrite(Modelled& of) {
    if (of.shared) return;
    write(of, static_cast<size_t>(below(static_cast<int64_t>(of.seeds.size()))));
    of.buffer.seal();
  }

  void share(Modelled& of) { of.shared = of.shared ? Buffer() : of.buffer; }

  void check(const Modelled& of, bool pinned) {
    const int64_t words = of.buffer.size_bytes() / 8;
    const int64_t begin = below(words);
    const int64_t end = std::min(words, begin + 1 + below(4 * kBlock));
    std::unique_ptr<Pin> pin;
    if (pinned || kThreadSanitizer) pin.reset(new Pin{{&of.buffer, 8 * begin, 8 * end}});
    for (int64_t i = begin; i < end; i += 61)
      right_ &=
          of.buffer.as<uint64_t>()[i] == word_of(of.seeds[static_cast<size_t>(i / kBlock)], i);
  }

  std::mt19937_64 random_;
  std::vector<Modelled> live_;
  int64_t done_ = 0;
  int64_t refused_ = 0;
  bool right_ = true;
};

TEST(SpillModel, TwoThreadsOfRandomSteps) {
  if (!current_resource().properties().movable)
    GTEST_SKIP() << "blocks between guard pages do not move";
  const char* const wish = std::getenv("HEADRACE_OPERATIONS");
  const int64_t steps = wish ? std::atoll(wish) : 6'000;
  trim_memory();
  const int64_t before = memory_statistics().used_bytes;
  const SpillStatistics moved = spill_statistics();
  set_memory_limit(before + kLimit);
  {
    const StatisticsScope scope;
    std::vector<Walk> walks{Walk(20'261'121), Walk(20'261'122)};
    std::thread other([&] { walks[1].steps(steps / 2); });
    walks[0].steps(steps / 2);
    other.join();
    for (const Walk& walk : walks) {
      EXPECT_TRUE(walk.right()) << "step " << walk.done();
      EXPECT_LT(walk.refused(), steps / 10);
    }
    EXPECT_LE(scope.read().peak_bytes, before + kLimit);
  }
  set_memory_limit(std::numeric_limits<int64_t>::max());
  const SpillStatistics now = spill_statistics();
  EXPECT_GT(now.evicted_bytes - moved.evicted_bytes, steps * kKib);
  EXPECT_GT(now.fetched_bytes, moved.fetched_bytes);
  EXPECT_EQ(memory_statistics().used_bytes, before);
  EXPECT_EQ(now.disk_bytes, moved.disk_bytes);
  RecordProperty("evicted_bytes", std::to_string(now.evicted_bytes - moved.evicted_bytes));
}

}  // namespace
}  // namespace hr
