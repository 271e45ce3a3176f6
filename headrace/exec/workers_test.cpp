// SPDX-License-Identifier: Apache-2.0
// Jobs run every task once, carry tags, report the lowest error, nest, and stop when asked.
#include "headrace/exec/workers.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/tag.h"
#include "headrace/memory/resource/resource.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hr {

namespace {

class Workers : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, Workers, ::testing::Values(1, 2, 4));

TEST_P(Workers, RunsEveryTaskOnce) {
  for (const int64_t count : {0, 1, 2, 63, 1000}) {
    std::vector<std::atomic<int>> ran(static_cast<size_t>(count));
    parallel_for(count, [&](int64_t i) { ++ran[static_cast<size_t>(i)]; });
    for (const auto& times : ran) ASSERT_EQ(times, 1);
  }
}

TEST_P(Workers, WhoWaitsForNestedTasksBringsNoRoom) {
  if (GetParam() == 1) return;
  constexpr int64_t kMib = 1 << 20;
  set_memory_limit(memory_statistics().used_bytes + 16 * kMib);
  const auto begin = std::chrono::steady_clock::now();
  const auto nested = [&](int64_t) {
    const Buffer held = Buffer::allocate(2 * kMib);
    const std::thread::id own = std::this_thread::get_id();
    std::atomic<bool> began{false};
    parallel_for(2, [&](int64_t) {
      if (std::this_thread::get_id() == own) {
        while (!began) std::this_thread::yield();
        return;
      }
      began = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      Buffer::allocate(15 * kMib);
    });
  };
  EXPECT_THROW(parallel_for(1, nested), OutOfMemoryError);
  set_memory_limit(std::numeric_limits<int64_t>::max());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(800));
}

TEST_P(Workers, MorselBordersDependOnRowsAlone) {
  for (const auto& [rows, step] : {std::pair<int64_t, int64_t>{1000, kMorselRows},
                                   {1 << 15, kMorselRows},
                                   {100'000, 1 << 13},
                                   {3'000'000, 1 << 15},
                                   {100'000'000, kMorselRows}}) {
    EXPECT_EQ(morsel_rows(rows), step) << rows;
    std::vector<Morsel> seen(static_cast<size_t>(num_morsels(rows)));
    parallel_morsels(rows, [&](Morsel m) { seen[static_cast<size_t>(m.index)] = m; });
    for (size_t i = 1; i < seen.size(); ++i) {
      ASSERT_EQ(seen[i].begin, seen[i - 1].end);
      ASSERT_EQ(seen[i].begin, static_cast<int64_t>(i) * step);
    }
    EXPECT_EQ(seen.back().end, rows);
  }
  std::vector<Morsel> whole(3);
  parallel_morsels(2 * kMorselRows + 5, kMorselRows, {},
                   [&](Morsel m) { whole[static_cast<size_t>(m.index)] = m; });
  EXPECT_EQ(whole[2].begin, 2 * kMorselRows);
}

TEST_P(Workers, SmallMorselsAreForTests) {
  const int64_t before = morsel_rows();
  set_morsel_rows(64);
  EXPECT_EQ(num_morsels(129), 3);
  EXPECT_EQ(morsel_at(2, 129).begin, 128);
  EXPECT_EQ(morsel_at(2, 129).end, 129);
  for (const int64_t rows : {int64_t{0}, int64_t{-64}, int64_t{100}, 2 * kMorselRows})
    EXPECT_THROW(set_morsel_rows(rows), InvalidArgumentError);
  EXPECT_EQ(morsel_rows(), 64);
  set_morsel_rows(before);
}

TEST_P(Workers, TheLowestErrorWins) {
  for (int round = 0; round < 50; ++round) {
    try {
      parallel_for(200, [&](int64_t i) {
        if (i % 10 == 7) throw InvalidArgumentError("task " + std::to_string(i));
      });
      FAIL();
    } catch (const InvalidArgumentError& error) {
      ASSERT_STREQ(error.what(), "task 7");
    }
  }
}

TEST_P(Workers, NestedJobsEnd) {
  std::atomic<int64_t> total{0};
  parallel_for(8, [&](int64_t) {
    parallel_for(8, [&](int64_t) { parallel_for(4, [&](int64_t i) { total += i; }); });
  });
  EXPECT_EQ(total, 8 * 8 * 6);
}

TEST_P(Workers, TagsTravelWithTheJob) {
  const ScopedTag tag(intern_tag("job", "x.py:1"));
  const Tag expected = current_tag();
  std::atomic<int> wrong{0};
  parallel_for(500, [&](int64_t) { wrong += current_tag() != expected; });
  EXPECT_EQ(wrong, 0);
}

TEST_P(Workers, ScopedResourcesTravelWithTheJob) {
  const ScopedResource scope(system_resource());
  std::atomic<int> wrong{0};
  parallel_for(500, [&](int64_t) { wrong += current_resource() != system_resource(); });
  EXPECT_EQ(wrong, 0);
}

TEST_P(Workers, SeveralCallersShareThePool) {
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (int k = 0; k < 100; ++k) parallel_for(16, [&](int64_t i) { total += i; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 3 * 100 * 120);
}

TEST_P(Workers, AnInterruptStopsALongJob) {
  set_interrupt_check([] { return true; });
  std::atomic<int64_t> ran{0};
  EXPECT_THROW(parallel_for(1'000'000,
                            [&](int64_t) {
                              ++ran;
                              std::this_thread::sleep_for(std::chrono::microseconds(200));
                            }),
               Interrupted);
  set_interrupt_check(nullptr);
  EXPECT_LT(ran, 100'000);
  parallel_for(10, [&](int64_t) { ++ran; });
}

TEST_P(Workers, AnInterruptStopsManyShortJobs) {
  set_interrupt_check([] { return true; });
  std::atomic<int64_t> ran{0};
  const auto many = [&] {
    for (int k = 0; k < 10'000; ++k)
      parallel_for(2, [&](int64_t) {
        ++ran;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      });
  };
  EXPECT_THROW(many(), Interrupted);
  EXPECT_LT(ran, 10'000);
  const auto loop = [] {
    for (int k = 0; k < 10'000; ++k) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      look_for_interrupt();
    }
  };
  EXPECT_THROW(loop(), Interrupted);
  EXPECT_THROW(look_for_interrupt_now(), Interrupted);
  set_interrupt_check(nullptr);
  look_for_interrupt_now();
}

TEST_P(Workers, AnInterruptStopsLongTasksThatLookForIt) {
  set_interrupt_check([] { return true; });
  const auto begin = std::chrono::steady_clock::now();
  const auto loop = [&](int64_t) {
    while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      look_for_interrupt();
    }
  };
  EXPECT_THROW(parallel_for(2, loop), Interrupted);
  // Also those of jobs in a job.
  EXPECT_THROW(parallel_for(2, [&](int64_t) { parallel_for(2, loop); }), Interrupted);
  set_interrupt_check(nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  std::atomic<int64_t> ran{0};
  parallel_for(10, [&](int64_t) {
    look_for_interrupt();
    ++ran;
  });
  EXPECT_EQ(ran, 10);
}

std::vector<double> reported;  // a callback cannot capture

TEST(Progress, OfPartsIsThatOfTheWhole) {
  set_progress([](int64_t done, int64_t count) {
    reported.push_back(static_cast<double>(done) / static_cast<double>(count));
  });
  const auto report = [](int64_t done, int64_t count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // it listens each 50 ms
    report_progress(done, count);
  };
  report(3, 4);
  {
    const ProgressPart outer(10, 60, 100);
    report(1, 2);
    {
      const ProgressPart inner(1, 2, 2);
      report(1, 2);
      report(9, 2);  // more than all
    }
    const ProgressPart unknown(0, 0, -1);
    report(1, 5);
  }
  report(0, 7);
  set_progress(nullptr);
  const std::vector<double> wanted{0.75, 0.35, 0.475, 0.6, 0.2, 0.0};
  ASSERT_EQ(reported.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(reported[i], wanted[i], 1e-5) << i;
}

TEST(Threads, RefusesACountOutOfRange) {
  EXPECT_THROW(set_threads(0), InvalidArgumentError);
  EXPECT_THROW(set_threads(5000), InvalidArgumentError);
}

TEST(Morsels, PinWhatTheyTouchUnderAShortBudget) {
  constexpr int64_t kBytes = int64_t{48} << 20;
  constexpr int64_t kRows = kBytes / 8;
  trim_memory();
  set_memory_limit(memory_statistics().used_bytes + (int64_t{20} << 20));
  const int before = threads();
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    Buffer in = Buffer::allocate_spillable(kBytes);
    auto* numbers = in.mutable_as<int64_t>();
    parallel_morsels(kRows, {BufferAccess{&in, 0, 64, 64, kRows, 0, 0, true}}, [&](Morsel morsel) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i) numbers[i] = i * i;
    });
    in.seal();
    Buffer out = Buffer::allocate_spillable(kBytes);
    auto* sums = out.mutable_as<int64_t>();
    const std::vector<BufferAccess> accesses{{&in, 0, 64, 64, kRows, 1, 1},
                                             {&out, 0, 64, 64, kRows, 0, 0, true}};
    for (int pass = 0; pass < 3; ++pass)
      parallel_morsels(kRows, accesses, [&](Morsel morsel) {
        for (int64_t i = morsel.begin; i < morsel.end; ++i)
          sums[i] = (i > 0 ? in.as<int64_t>()[i - 1] : 0) + in.as<int64_t>()[i];
      });
    out.seal();
    for (int64_t i = 0; i < kRows; ++i)
      ASSERT_EQ(out.as<int64_t>()[i], i * i + (i > 0 ? (i - 1) * (i - 1) : 0)) << count;
    EXPECT_LE(memory_statistics().used_bytes, memory_limit());
  }
  set_threads(before);
  set_memory_limit(std::numeric_limits<int64_t>::max());
}

}  // namespace

}  // namespace hr
