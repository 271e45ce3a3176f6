// SPDX-License-Identifier: Apache-2.0
// What each adaptor does in addition to passing requests on, also when upstream is slow to take a
// block.
#include "headrace/memory/adaptors/adaptors.h"

#include "headrace/base/error.h"
#include "headrace/memory/adaptors/recording_adaptors.h"
#include "headrace/memory/resource/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace hr {

namespace {

template <class R, class... Arguments>
std::shared_ptr<R> over(const AnyResource& upstream, Arguments... arguments) {
  return std::make_shared<R>(upstream, arguments...);
}

void use(const AnyResource& resource, size_t bytes) {
  resource.deallocate(Stream{}, resource.allocate(Stream{}, bytes, 64), bytes, 64);
}

TEST(LimitAdaptor, HoldsExactlyAndSaysWhatItWasAskedFor) {
  const auto limit = over<LimitAdaptor>(system_resource(), 1000);
  void* const block = limit->allocate(Stream{}, 600, 64);
  EXPECT_EQ(limit->used_bytes(), 600);
  try {
    limit->allocate(Stream{}, 401, 64);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("limit=1.0 kB, used=600 B"), std::string::npos)
        << error.what();
    EXPECT_EQ(error.requested_bytes, 401);
    EXPECT_EQ(error.limit_bytes, 1000);
    EXPECT_EQ(error.used_bytes, 600);
  }
  use(AnyResource(limit), 400);
  limit->deallocate(Stream{}, block, 600, 64);
  use(AnyResource(limit), 1000);
  EXPECT_THROW(LimitAdaptor(system_resource(), -1), InvalidArgumentError);
}

TEST(LimitAdaptor, TakesAChargeBackWhenUpstreamRefuses) {
  const auto fault = over<FaultAdaptor>(system_resource(), FaultPlan{.first = 1});
  const auto limit = over<LimitAdaptor>(AnyResource(fault), 1000);
  EXPECT_THROW(limit->allocate(Stream{}, 600, 64), OutOfMemoryError);
  EXPECT_EQ(limit->used_bytes(), 0);
}

TEST(RateLimitAdaptor, WaitsForWhatWasTakenBefore) {
  const auto rate = over<RateLimitAdaptor>(system_resource(), 1'000'000);
  const auto begin = std::chrono::steady_clock::now();
  use(AnyResource(rate), 30'000);
  EXPECT_EQ(rate->waited_ns(), 0);
  use(AnyResource(rate), 10);
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(passed, std::chrono::milliseconds(30));
  EXPECT_GT(rate->waited_ns(), 0);
  EXPECT_THROW(RateLimitAdaptor(system_resource(), 0), InvalidArgumentError);
}

TEST(StatisticsAdaptor, CountsExactly) {
  const auto statistics = over<StatisticsAdaptor>(
      AnyResource(over<FaultAdaptor>(system_resource(), FaultPlan{.first = 3})));
  void* const block = statistics->allocate(Stream{}, 100, 64);
  use(AnyResource(statistics), 50);
  EXPECT_THROW(statistics->allocate(Stream{}, 1000, 64), OutOfMemoryError);
  EXPECT_EQ(statistics->read(), (ResourceStatistics{.used_bytes = 100,
                                                    .peak_bytes = 150,
                                                    .live_blocks = 1,
                                                    .allocations = 2,
                                                    .allocated_bytes = 150,
                                                    .failures = 1}));
  statistics->deallocate(Stream{}, block, 100, 64);
  EXPECT_EQ(statistics->read().used_bytes, 0);
}

TEST(LogAdaptor, KeepsTheLatestEvents) {
  const auto log = over<LogAdaptor>(
      AnyResource(over<FaultAdaptor>(system_resource(), FaultPlan{.first = 2})), 3);
  const ScopedTag tag(intern_tag("log_test"));
  use(AnyResource(log), 100);
  EXPECT_THROW(log->allocate(Stream{}, 7, 64), OutOfMemoryError);
  use(AnyResource(log), 200);
  const std::vector<MemoryEvent> events = log->events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].action, MemoryAction::kAllocateFailure);
  EXPECT_EQ(events[0].index, 2u);
  EXPECT_EQ(events[1].action, MemoryAction::kAllocate);
  EXPECT_EQ(events[2].action, MemoryAction::kFree);
  EXPECT_EQ(events[2].bytes, 200);
  EXPECT_EQ(tag_info(events[2].tag).op, "log_test");
  EXPECT_EQ(events[1].pointer, events[2].pointer);
}

TEST(TrackAdaptor, NamesLeaksAndTakesNoWrongBlock) {
  const auto track = over<TrackAdaptor>(system_resource());
  const ScopedTag tag(intern_tag("leaky", "job.py:3"));
  void* const block = track->allocate(Stream{}, 100, 64);
  const std::vector<LiveBlock> live = track->live_blocks();
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].pointer, block);
  EXPECT_EQ(live[0].bytes, 100);
  EXPECT_EQ(tag_info(live[0].tag).line, "job.py:3");
  int foreign = 0;
  track->deallocate(Stream{}, &foreign, 4, 64);
  EXPECT_EQ(track->wrong_deallocations(), 1);
  track->deallocate(Stream{}, block, 64, 64);   // the wrong size
  track->deallocate(Stream{}, block, 100, 64);  // twice
  EXPECT_EQ(track->wrong_deallocations(), 3);
  EXPECT_TRUE(track->live_blocks().empty());
}

TEST(AlignAdaptor, AlignsFromASizeOn) {
  const auto below = over<StatisticsAdaptor>(system_resource());
  const auto align = over<AlignAdaptor>(AnyResource(below), size_t{1} << 16, size_t{1000});
  void* const block = align->allocate(Stream{}, 1000, 64);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % (1 << 16), 0u);
  EXPECT_EQ(below->read().used_bytes, 1000 + (1 << 16));
  align->deallocate(Stream{}, block, 1000, 64);
  use(AnyResource(align), 999);
  EXPECT_EQ(below->read().allocated_bytes, 1000 + (1 << 16) + 999);
  EXPECT_EQ(below->read().used_bytes, 0);
  EXPECT_THROW(AlignAdaptor(system_resource(), 48), InvalidArgumentError);
}

TEST(PressureAdaptor, AsksAgainAsLongAsSomethingWasFreed) {
  const auto limit = over<LimitAdaptor>(system_resource(), 1000);
  std::vector<void*> held;
  for (int i = 0; i < 4; ++i) held.push_back(limit->allocate(Stream{}, 250, 64));
  std::vector<size_t> asked;
  const auto pressure =
      over<PressureAdaptor>(AnyResource(limit), PressureAdaptor::Callback([&](size_t bytes) {
                              asked.push_back(bytes);
                              if (held.empty()) return false;
                              limit->deallocate(Stream{}, held.back(), 250, 64);
                              held.pop_back();
                              return true;
                            }));
  use(AnyResource(pressure), 700);
  EXPECT_EQ(asked, (std::vector<size_t>{700, 700, 700}));
  EXPECT_THROW(pressure->allocate(Stream{}, 2000, 64), OutOfMemoryError);
  EXPECT_TRUE(held.empty());
}

TEST(PressureAdaptor, IsNotCalledFromWithinItselfAndPassesErrorsOn) {
  const auto fault = over<FaultAdaptor>(system_resource(), FaultPlan{.first = 1, .for_ever = true});
  int calls = 0;
  std::shared_ptr<PressureAdaptor> pressure;
  pressure = over<PressureAdaptor>(AnyResource(fault), PressureAdaptor::Callback([&](size_t) {
                                     ++calls;
                                     use(AnyResource(pressure), 10);
                                     return true;
                                   }));
  EXPECT_THROW(pressure->allocate(Stream{}, 20, 64), OutOfMemoryError);
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(pressure->allocate(Stream{}, 20, 64), OutOfMemoryError);
  EXPECT_EQ(calls, 2);
}

TEST(FaultAdaptor, FollowsItsPlan) {
  const auto fails = [](FaultPlan plan) {
    const AnyResource fault(over<FaultAdaptor>(system_resource(), plan));
    std::string text;
    for (int i = 0; i < 2000; ++i) try {
        use(fault, 64);
        text += '.';
      } catch (const OutOfMemoryError&) {
        text += 'x';
      }
    return text;
  };
  EXPECT_EQ(fails({}).find('x'), std::string::npos);
  EXPECT_EQ(fails({.first = 3}).substr(0, 6), "..x...");
  EXPECT_EQ(fails({.first = 3, .for_ever = true}).substr(0, 6), "..xxxx");
  const std::string quarter = fails({.probability = 0.25, .seed = 7});
  EXPECT_EQ(quarter, fails({.probability = 0.25, .seed = 7}));
  EXPECT_NE(quarter, fails({.probability = 0.25, .seed = 8000}));
  EXPECT_NEAR(static_cast<double>(std::count(quarter.begin(), quarter.end(), 'x')), 500, 100);
  EXPECT_THROW(FaultAdaptor(system_resource(), {.probability = 2}), InvalidArgumentError);
}

// Gives the address of a block away before its deallocate is over, as a slow upstream does: who
// takes a note away too late takes the note of the block that another thread got meanwhile.
class LateResource {
 public:
  void* allocate(Stream, size_t, size_t) {
    while (taken_.exchange(true)) std::this_thread::yield();
    return block_.data();
  }

  void deallocate(Stream, void*, size_t, size_t) noexcept {
    taken_ = false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }

  MemoryProperties properties() const { return {}; }

  std::string describe() const { return "late"; }

 private:
  std::atomic<bool> taken_{false};
  alignas(4096) std::array<char, 8192> block_;
};

TEST(Adaptors, KeepTheirNotesRightWhenAnAddressComesBackEarly) {
  const AnyResource late(std::make_shared<LateResource>());
  const auto log = over<LogAdaptor>(late);
  const auto inner = over<TrackAdaptor>(AnyResource(log));
  const auto align = over<AlignAdaptor>(AnyResource(inner), size_t{4096});
  const auto statistics = over<StatisticsAdaptor>(AnyResource(align));
  const auto track = over<TrackAdaptor>(AnyResource(statistics));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) use(AnyResource(track), 1000);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(track->wrong_deallocations(), 0);
  EXPECT_EQ(inner->wrong_deallocations(), 0);
  EXPECT_TRUE(track->live_blocks().empty());
  EXPECT_EQ(statistics->read().used_bytes, 0);
  EXPECT_EQ(statistics->read().peak_bytes, 1000) << "one block, so never two at a time";
  const std::vector<MemoryEvent> events = log->events();
  ASSERT_EQ(events.size(), 800u);
  for (size_t i = 0; i < events.size(); ++i)
    ASSERT_EQ(events[i].action, i % 2 == 0 ? MemoryAction::kAllocate : MemoryAction::kFree) << i;
}

TEST(Adaptors, DescribeTheWholeStack) {
  const AnyResource pool(std::make_shared<PoolResource>(system_resource()));
  EXPECT_EQ(over<LimitAdaptor>(pool, int64_t{64} << 20)->describe(),
            "limit(67.1 MB) over pool over system");
  EXPECT_EQ(over<AlignAdaptor>(pool, size_t{4096})->describe(),
            "align(4096) over pool over system");
  EXPECT_EQ(over<RateLimitAdaptor>(pool, 80'000'000)->describe(),
            "rate limit(80.0 MB/s) over pool over system");
}

}  // namespace

}  // namespace hr
