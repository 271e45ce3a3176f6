// SPDX-License-Identifier: Apache-2.0
// Logs are read as they were written, bad ones are refused by line and column, and replays balance.
#include "headrace/memory/replay/replay.h"

#include "headrace/base/error.h"
#include "headrace/memory/adaptors/resource_types.h"
#include "headrace/memory/log/log_file.h"
#include "headrace/memory/replay/log_reader.h"
#include "headrace/memory/resource/pool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

class ReplayLog : public testing::Test {
 protected:
  ~ReplayLog() override { std::filesystem::remove(path_); }

  MemoryLog read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_memory_log(path_);
  }

  // Line and column of the error.
  std::pair<int64_t, int64_t> refused(const std::string& text) const {
    try {
      read(text);
    } catch (const InputError& error) {
      EXPECT_EQ(error.path, path_);
      EXPECT_NE(std::string(error.what()).find("memory log: "), std::string::npos);
      return {error.line, error.column};
    }
    ADD_FAILURE() << text;
    return {};
  }

  std::string path_ = testing::TempDir() + "headrace_replay_" + std::to_string(getpid()) + ".csv";
  const std::string head_ = "Thread,Time,Action,Pointer,Size,Stream\n";
};

// Counts what a resource has out, and refuses what is too large.
class Balance {
 public:
  void* allocate(Stream, size_t bytes, size_t alignment) {
    if (bytes > size_t{1} << 40) throw OutOfMemoryError("too much");
    live_ += static_cast<int64_t>(bytes);
    ++count_;
    return std::aligned_alloc(alignment, (bytes + 63) / 64 * 64);
  }

  void deallocate(Stream, void* pointer, size_t bytes, size_t) noexcept {
    live_ -= static_cast<int64_t>(bytes);
    std::free(pointer);
  }

  MemoryProperties properties() const { return {}; }

  std::string describe() const { return "balance"; }

  std::atomic<int64_t> live_{0};
  std::atomic<int64_t> count_{0};
};

TEST_F(ReplayLog, ReadsOursAndThatOfRmm) {
  const MemoryLog ours = read(
      "Thread,Time,Action,Pointer,Size,Stream,Tag,Tier\r\n"
      "1,23:59:59:999999,allocate,0x7f00,1024,0,\"say \"\"hi\"\", you etl.py:7\",host\r\n"
      "2,00:00:00:000001,free,0x7f00,1024,0,sort,host\n"
      "\n"
      "2,00:00:00:000002,allocate failure,0x0,99,0,,host");
  ASSERT_EQ(ours.count, 3);
  EXPECT_EQ(ours.tags[ours.lines()[0].tag], "say \"hi\", you etl.py:7");
  EXPECT_EQ(ours.tags[ours.lines()[1].tag], "sort");
  EXPECT_EQ(ours.lines()[2].tag, 0u);
  EXPECT_EQ(ours.tiers[ours.lines()[2].tier], "host");
  EXPECT_EQ(ours.lines()[1].time_ns - ours.lines()[0].time_ns, 2000) << "past midnight";
  EXPECT_EQ(ours.lines()[0].pointer, 0x7f00u);
  EXPECT_EQ(ours.lines()[2].action, MemoryAction::kAllocateFailure);
  const MemoryLog rmm = read(head_ +
                             "140573312345856,14:21:19.998533,allocate,0x30a000000,256,0x2\n"
                             "140573312345856,1634567890.5,deallocate,30a000000,256,0\n"
                             "7,14:21:20.1,allocate failure,(nil),99,(nil)\n");
  EXPECT_EQ(rmm.lines()[0].stream, 2u);
  EXPECT_EQ(rmm.lines()[0].thread, 140573312345856u);
  EXPECT_EQ(rmm.lines()[1].action, MemoryAction::kFree);
  EXPECT_EQ(rmm.lines()[1].pointer, rmm.lines()[0].pointer);
  EXPECT_EQ(rmm.lines()[1].time_ns, 1634567890'500000000);
  EXPECT_EQ(read(head_).count, 0);
  EXPECT_EQ(read("Size,Action,Pointer,Thread\n5,free,1,2\n").lines()[0].bytes, 5);
}

TEST_F(ReplayLog, RefusesWhatIsNoLogByLineAndColumn) {
  const std::string good = "1,14:21:19:998533,allocate,0x10,256,0\n";
  EXPECT_EQ(refused(""), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(refused("Thread,Time,Action,Pointer\n").first, 1);
  EXPECT_EQ(refused(head_ + good + "1,2\n").first, 3);
  const std::pair<std::string, int64_t> lines[] = {
      {"-1,14:21:19:998533,free,0x10,256,0", 1},
      {"1,noon,free,0x10,256,0", 3},
      {"1,25:00:00:000000,free,0x10,256,0", 3},
      {"1,1:2,free,0x10,256,0", 3},
      {"1,14:21:19:998533,steal,0x10,256,0", 19},
      {"1,14:21:19:998533,free,0xzz,256,0", 24},
      {"1,14:21:19:998533,free,0x11112222333344445,256,0", 24},
      {"1,14:21:19:998533,free,0x10,-256,0", 29},
      {"1,14:21:19:998533,free,0x10,9223372036854775808,0", 29},
      {"1,14:21:19:998533,free,0x10,2.5,0", 29},
      {"1,14:21:19:998533,free,0x10,256,main", 33},
      {"1,14:21:19:998533,free,\"0x10,256,0", 24},
      {"1,14:21:19:998533,\"free\"e,0x10,256,0", 25},
      {std::string(3, '\0') + ",14:21:19:998533,free,0x10,256,0", 1}};
  for (const auto& [line, column] : lines)
    EXPECT_EQ(refused(head_ + good + line + "\n"), std::pair(int64_t{3}, column)) << line;
  EXPECT_THROW(read_memory_log("/nowhere.csv"), InputError);
  EXPECT_THROW(read_memory_log("/tmp"), InputError);
}

TEST_F(ReplayLog, LeavesOutWhatMakesNoSenseAndBalances) {
  const MemoryLog log = read(head_ +
                             "1,1,free,0x99,64,0\n"
                             "1,1,allocate,0x10,100,0\n"
                             "1,1,allocate,0x10,200,7\n"
                             "2,1,allocate,0x20,50,0\n"
                             "2,1,allocate failure,0x0,50,0\n"
                             "2,1,allocate,0x0,0,0\n"
                             "2,1,free,0x0,0,0\n"
                             "1,1,free,0x20,50,0\n"
                             "1,1,allocate,0x30,4611686018427387904,0\n"
                             "2,1,free,0x30,4611686018427387904,0\n");
  for (const bool by_thread : {false, true}) {
    Replay replay(log, by_thread);
    const ReplayCounts& counts = replay.counts();
    EXPECT_EQ(replay.threads(), by_thread ? 2 : 1);
    EXPECT_EQ(counts.allocations, 4);
    EXPECT_EQ(counts.frees, 3);
    EXPECT_EQ(counts.left, 1);
    EXPECT_EQ(counts.unknown_frees, 1);
    EXPECT_EQ(counts.double_allocations, 1);
    EXPECT_EQ(counts.failed, 1);
    EXPECT_EQ(counts.empty, 2);
    EXPECT_EQ(counts.requested_peak_bytes, (int64_t{1} << 62) + 200);
    const auto balance = std::make_shared<Balance>();
    const AnyResource resource(balance);
    for (int round = 0; round < 2; ++round) {
      std::vector<std::thread> threads;
      for (int64_t t = 0; t < replay.threads(); ++t)
        threads.emplace_back([&, t] { replay.run(resource, t); });
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(balance->live_, 200);
      replay.finish(resource);
      EXPECT_EQ(balance->live_, 0);
      EXPECT_EQ(balance->count_, 3 * (round + 1));
      EXPECT_EQ(replay.refused(), 1);
      EXPECT_GT(replay.seconds(), 0);
    }
  }
  const MemoryLog huge = read(head_ + "1,1,allocate,0x1,9223372036854775807,0\n" +
                              "1,1,allocate,0x2,9223372036854775807,0\n");
  EXPECT_THROW(Replay(huge, false), InvalidArgumentError);
}

TEST_F(ReplayLog, WhatWasWrittenIsReplayedOnEveryResource) {
  {
    MemoryLogFile file(path_, next_memory_event());
    std::vector<Buffer> kept;
    for (int64_t i = 0; i < 3000; ++i) {
      kept.push_back(Buffer::allocate(256 + i * 7919 % (1 << 20)));
      if (kept.size() > 40) kept.erase(kept.begin() + i % 40);
    }
    file.close();
  }
  const MemoryLog log = read_memory_log(path_);
  Replay replay(log, false);
  EXPECT_EQ(replay.counts().allocations, 3000);
  EXPECT_EQ(replay.counts().left, 40);
  for (const char* name : {"system", "pool", "binning", "fixed_size"}) {
    const AnyResource resource = replay_resource(name, system_resource());
    replay.run(resource, 0);
    replay.finish(resource);
    EXPECT_EQ(replay.refused(), 0) << name;
    const ReplayFootprint found = replay_footprint(
        log, [&](AnyResource upstream) { return replay_resource(name, upstream); });
    EXPECT_GE(found.held_peak_bytes, replay.counts().requested_peak_bytes) << name;
    EXPECT_EQ(found.largest_free_bytes > 0, found.free_bytes > 0) << name;
    EXPECT_LE(found.largest_free_bytes, found.free_bytes) << name;
  }
  EXPECT_THROW(replay_resource("lake", system_resource()), InvalidArgumentError);
}

}  // namespace

}  // namespace hr
