// SPDX-License-Identifier: Apache-2.0
// A log file holds every event of its time, however many threads write and whatever fails.
#include "headrace/memory/log/log_file.h"

#include "headrace/base/error.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/log/tag.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

class LogFile : public testing::Test {
 protected:
  ~LogFile() override { std::filesystem::remove(path_); }

  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }

  std::string path_ = testing::TempDir() + "headrace_log_" + std::to_string(getpid()) + ".csv";
};

TEST_F(LogFile, HoldsAnEventALine) {
  const ScopedTag tag(intern_tag("say \"hi\", you", "etl.py:7"));
  MemoryLogFile log(path_, next_memory_event());
  Buffer::allocate(1000);
  log.close();
  EXPECT_EQ(log.events(), 2);
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], "Thread,Time,Action,Pointer,Size,Stream,Tag,Tier");
  EXPECT_NE(all[1].find(",allocate,0x"), std::string::npos) << all[1];
  EXPECT_NE(all[1].find(",1024,0,\"say \"\"hi\"\", you etl.py:7\",host"), std::string::npos);
  EXPECT_NE(all[2].find(",free,0x"), std::string::npos);
  EXPECT_NO_THROW(log.close());
}

TEST_F(LogFile, LosesNothingOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int64_t kEvents = 100'000;
  MemoryLogFile log(path_, next_memory_event());
  const MemoryLogFile other(path_ + ".other", next_memory_event());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      for (int64_t i = 0; i < kEvents; ++i)
        log_memory_event(MemoryAction::kAllocate, nullptr, 64 * i + t, 0);
    });
  for (std::thread& thread : threads) thread.join();
  log.close();
  EXPECT_EQ(log.lost(), 0);
  EXPECT_EQ(log.events(), kThreads * kEvents);
  std::vector<int64_t> seen(kThreads);  // of each thread in its order
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 1u + kThreads * kEvents);
  for (size_t k = 1; k < all.size(); ++k) {
    const int64_t bytes = std::stoll(all[k].substr(all[k].find(",0x0,") + 5));
    ASSERT_EQ(bytes / 64, seen[static_cast<size_t>(bytes % 64)]++);
  }
  std::filesystem::remove(path_ + ".other");
}

TEST_F(LogFile, BeginsWithWhatTheRingHolds) {
  for (int i = 0; i < 3; ++i) log_memory_event(MemoryAction::kFree, &i, 64, 0);
  MemoryLogFile log(path_, 0);
  log.close();
  EXPECT_GE(log.events(), 3);
  EXPECT_EQ(log.events() + log.lost(), static_cast<int64_t>(next_memory_event()));
}

TEST_F(LogFile, SaysWhatTheSystemSaid) {
  try {
    MemoryLogFile("/nowhere/at/all.csv", 0);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.code, ENOENT);
    EXPECT_EQ(error.path, "/nowhere/at/all.csv");
  }
  EXPECT_THROW(MemoryLogFile("/dev/full", 0), InputError);
}

TEST_F(LogFile, EndsWithAWholeLineWhereTheDiskIsFull) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10'001, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  MemoryLogFile log(path_, next_memory_event());
  for (int64_t i = 0; i < 2 * kMemoryEventCapacity; ++i)
    log_memory_event(MemoryAction::kAllocate, nullptr, 64, 0);  // goes on without the file
  try {
    log.close();
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.code, EFBIG);
    EXPECT_NE(std::string(error.what()).find("File too large"), std::string::npos);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_GT(lines().size(), 100u);
  EXPECT_TRUE(lines().back().ends_with(",allocate,0x0,64,0,,host")) << lines().back();
}

TEST_F(LogFile, IsNotWrittenByAChild) {
  MemoryLogFile log(path_, next_memory_event());
  log_memory_event(MemoryAction::kAllocate, nullptr, 64, 0);
  const pid_t child = fork();
  if (child == 0) {
    for (int64_t i = 0; i < 2 * kMemoryEventCapacity; ++i)
      log_memory_event(MemoryAction::kAllocate, nullptr, 128, 0);
    log.close();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  log_memory_event(MemoryAction::kFree, nullptr, 64, 0);
  log.close();
  EXPECT_EQ(lines().size(), 3u);
}

}  // namespace

}  // namespace hr
