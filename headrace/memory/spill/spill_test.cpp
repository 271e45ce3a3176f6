// SPDX-License-Identifier: Apache-2.0
// Under a limit buffers leave memory and come back with the same bytes, whatever fails on the way.
#include "headrace/memory/spill/spill.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/memory/spill/residency.h"
#include "headrace/memory/spill/spill_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace hr {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

class Spill : public testing::Test {
 protected:
  void SetUp() override {
    if (!current_resource().properties().movable)
      GTEST_SKIP() << "blocks between guard pages do not move";
  }
};

/// A limit for a scope, over what is used at its begin.
class ScopedLimit {
 public:
  explicit ScopedLimit(int64_t bytes) {
    trim_memory();
    set_memory_limit(memory_statistics().used_bytes + bytes);
  }

  ~ScopedLimit() { set_memory_limit(std::numeric_limits<int64_t>::max()); }
};

uint64_t word_of(uint64_t seed, int64_t at) {
  return (seed + 1) * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(at) * 0xD6E8FEB86659FD93u;
}

void fill(Buffer& buffer, uint64_t seed) {
  constexpr int64_t step = kMib / 8;
  const int64_t words = buffer.size_bytes() / 8;
  auto* out = buffer.mutable_as<uint64_t>();
  for (int64_t begin = 0; begin < words; begin += step) {
    const int64_t end = std::min(begin + step, words);
    const Pin pin{{&buffer, 8 * begin, 8 * end, true}};
    for (int64_t i = begin; i < end; ++i) out[i] = word_of(seed, i);
  }
}

Buffer filled(int64_t bytes, uint64_t seed, bool paged = true) {
  Buffer buffer = paged ? Buffer::allocate_spillable(bytes) : Buffer::allocate(bytes);
  fill(buffer, seed);
  buffer.seal();
  return buffer;
}

bool holds(const Buffer& buffer, uint64_t seed, bool pinned = true) {
  constexpr int64_t step = kMib / 8;
  const int64_t words = buffer.size_bytes() / 8;
  for (int64_t begin = 0; begin < words; begin += step) {
    const int64_t end = std::min(begin + step, words);
    std::unique_ptr<Pin> pin;
    if (pinned) pin.reset(new Pin{{&buffer, 8 * begin, 8 * end}});
    for (int64_t i = begin; i < end; ++i)
      if (buffer.as<uint64_t>()[i] != word_of(seed, i)) return false;
  }
  return true;
}

TEST_F(Spill, BuffersLargerThanTheLimitKeepTheirBytes) {
  const ScopedLimit limit(24 * kMib);
  const SpillStatistics before = spill_statistics();
  std::vector<Buffer> buffers;
  for (uint64_t k = 0; k < 4; ++k) buffers.push_back(filled(32 * kMib + 8 * 37, k));
  for (const bool pinned : {true, false, true})
    for (uint64_t k = 0; k < 4; ++k) ASSERT_TRUE(holds(buffers[k], k, pinned));
  EXPECT_LE(memory_statistics().used_bytes, memory_statistics().limit_bytes);
  EXPECT_GT(spill_statistics().evicted_bytes, before.evicted_bytes + 64 * kMib);
  EXPECT_GT(spill_statistics().fetched_bytes, before.fetched_bytes);
  EXPECT_GT(spill_statistics().disk_bytes, 80 * kMib);
}

int64_t resident_bytes(const Buffer& buffer) {
  constexpr size_t kPage = 4096;
  std::vector<unsigned char> pages((static_cast<size_t>(buffer.size_bytes()) + kPage - 1) / kPage);
  mincore(const_cast<std::byte*>(buffer.data()), pages.size() * kPage, pages.data());
  return std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }) *
         static_cast<int64_t>(kPage);
}

TEST_F(Spill, OnlyChargedPagesAreThere) {
  const ScopedLimit limit(24 * kMib);
  const int64_t chunk = chunk_bytes_of(64 * kMib);
  ASSERT_LT(chunk, 2 * kMib);
  // Writes a chunk in each huge page, as what distributes rows does.
  const auto write = [&](Buffer& buffer, int64_t at) {
    for (; at < buffer.size_bytes(); at += 2 * kMib) {
      const Pin pin{{&buffer, at, at + chunk, true}};
      std::memset(buffer.mutable_data() + at, 1, static_cast<size_t>(chunk));
    }
  };
  Buffer larger = Buffer::allocate_spillable(64 * kMib);  // charged as it is written
  write(larger, chunk);
  EXPECT_EQ(resident_bytes(larger), 32 * chunk);
  larger = {};
  Buffer fitting =
      Buffer::allocate_spillable(20 * kMib);  // charged as a whole, and given up unused
  const Buffer other = filled(32 * kMib, 1);
  write(fitting, 0);
  EXPECT_EQ(resident_bytes(fitting), 10 * chunk);
}

TEST_F(Spill, ChunksOfManyBuffersWrittenTogetherAreSmaller) {
  const ScopedLimit limit(64 * kMib);
  const int64_t alone = chunk_bytes_of(64 * kMib);
  {
    const WrittenTogether few(4);
    EXPECT_EQ(chunk_bytes_of(64 * kMib), alone);
    const WrittenTogether many(100);
    EXPECT_EQ(chunk_bytes_of(64 * kMib), 64 << 10);
  }
  EXPECT_EQ(chunk_bytes_of(64 * kMib), alone);
}

TEST_F(Spill, AddressesStay) {
  const ScopedLimit limit(16 * kMib);
  const Buffer first = filled(12 * kMib, 1, false);
  const std::byte* const data = first.data();
  const Buffer second = filled(12 * kMib, 2, false);
  EXPECT_GT(spill_statistics().disk_bytes, 0);
  EXPECT_EQ(first.data(), data);
  EXPECT_TRUE(holds(first, 1, false));
}

TEST_F(Spill, OnlyPublishedBuffersMove) {
  const ScopedLimit limit(16 * kMib);
  Buffer making = Buffer::allocate(12 * kMib);
  EXPECT_THROW(Buffer::allocate(12 * kMib), OutOfMemoryError);
  making.seal();
  const Buffer second = Buffer::allocate(12 * kMib);
  EXPECT_EQ(second.size_bytes(), 12 * kMib);
}

TEST_F(Spill, WriterGetsItsBytesBack) {
  const ScopedLimit limit(16 * kMib);
  Buffer first = filled(12 * kMib, 1);
  {
    const Buffer second = filled(12 * kMib, 2);
  }
  auto* words = first.mutable_as<uint64_t>();  // all of it comes back, to stay
  for (int64_t i = 0; i < first.size_bytes() / 8; ++i) ASSERT_EQ(words[i]++, word_of(1, i));
  EXPECT_THROW(Buffer::allocate(12 * kMib), OutOfMemoryError);
}

TEST_F(Spill, PinsStay) {
  const ScopedLimit limit(16 * kMib);
  const Buffer first = filled(8 * kMib, 1);
  EXPECT_EQ(largest_holders(1)[0].pinned_bytes, 0);
  const Pin pin{{&first, 0, 8 * kMib}};
  EXPECT_EQ(largest_holders(1)[0].pinned_bytes, 8 * kMib);
  const Buffer second = filled(32 * kMib, 2);
  for (const Chunk& chunk : first.residency()->chunks)
    EXPECT_EQ(chunk.state, ChunkState::kResident);
  const Buffer third = filled(8 * kMib, 3);
  EXPECT_THROW((Pin{{&second, 0, 16 * kMib}}), OutOfMemoryError);
  EXPECT_TRUE(holds(second, 2));
}

TEST_F(Spill, WaitsForTasksThatMayGiveBack) {
  const ScopedLimit limit(16 * kMib);
  std::atomic<bool> began{false};
  std::thread other([&] {
    const RunningTask task;
    const Buffer held = Buffer::allocate(12 * kMib);  // being made: it cannot leave
    began = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  while (!began) std::this_thread::yield();
  EXPECT_NO_THROW(Buffer::allocate(8 * kMib));
  other.join();
}

TEST_F(Spill, ErrorsNameWhatWasTried) {
  const ScopedLimit limit(16 * kMib);
  const Buffer made = Buffer::allocate(12 * kMib);
  try {
    Buffer::allocate(12 * kMib);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    const std::string text = error.what();
    for (const char* part : {"out of memory", "requested=", "raise hr.memory.limit to at least",
                             "evicted", "being written"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 14);
  }
}

TEST_F(Spill, LoopsKeepWhatFits) {
  // Ten scans of twice the limit: the least recently used chunk would be missed each time.
  const ScopedLimit limit(32 * kMib);
  const Buffer data = filled(64 * kMib, 1);
  const SpillStatistics before = spill_statistics();
  for (int pass = 0; pass < 10; ++pass) ASSERT_TRUE(holds(data, 1));
  const int64_t fetched = spill_statistics().fetched_bytes - before.fetched_bytes;
  EXPECT_LT(fetched, 10 * 64 * kMib * 7 / 10);
  EXPECT_EQ(spill_statistics().written_bytes - before.written_bytes <= 64 * kMib, true);
}

TEST_F(Spill, LedgerTellsOfMoves) {
  const ScopedTag tag(intern_tag("fft_convolve", "job.py:7"));
  const NoCopies refuses(true);
  clear_ledger();
  const int64_t copied = ledger_bytes();
  const SpillStatistics before = spill_statistics();
  {
    const ScopedLimit limit(16 * kMib);
    const Buffer data = filled(32 * kMib, 1);
    for (int pass = 0; pass < 3; ++pass) ASSERT_TRUE(holds(data, 1));
  }
  const SpillStatistics after = spill_statistics();
  int64_t out = 0, in = 0;
  for (const LedgerEntry& entry : ledger_entries()) {
    EXPECT_EQ(entry.op + " " + entry.line, "fft_convolve job.py:7");
    EXPECT_TRUE(entry.asked);
    (entry.to == disk ? out : in) += entry.bytes;
  }
  EXPECT_LE(ledger_entries().size(), 2u);
  EXPECT_EQ(out, after.written_bytes - before.written_bytes);
  EXPECT_EQ(in, after.fetched_bytes - before.fetched_bytes);
  EXPECT_GT(in, 0);
  EXPECT_EQ(ledger_bytes(), copied);
}

TEST_F(Spill, PlanSaysWhatGoes) {
  const ScopedLimit limit(24 * kMib);
  const Buffer soon = filled(8 * kMib, 1);
  const Buffer late = filled(8 * kMib, 2);
  const int64_t step = reserve_steps(10);
  begin_step(step);
  expect_uses(soon, {step + 1});
  expect_uses(late, {step + 9});
  const Buffer more = Buffer::allocate(16 * kMib);
  const auto on_disk = [](const Buffer& buffer) {
    int64_t count = 0;
    for (const Chunk& chunk : buffer.residency()->chunks)
      count += chunk.state == ChunkState::kOnDisk;
    return count;
  };
  EXPECT_GT(on_disk(late), on_disk(soon));
  EXPECT_EQ(on_disk(late), late.residency()->size());
}

TEST_F(Spill, TemporariesStayWhileTheirStepRuns) {
  const ScopedLimit limit(24 * kMib);
  const Buffer later = filled(8 * kMib, 1);
  const int64_t step = reserve_steps(10);
  begin_step(step);
  expect_uses(later, {step + 1});
  Buffer temporary = Buffer::allocate_temporary(8 * kMib);
  {
    const Pin write{{&temporary, 0, 8 * kMib, true}};
  }
  const auto on_disk = [](const Buffer& buffer) {
    return std::count_if(buffer.residency()->chunks.begin(), buffer.residency()->chunks.end(),
                         [](const Chunk& chunk) { return chunk.state == ChunkState::kOnDisk; });
  };
  {
    const Buffer more = Buffer::allocate(12 * kMib);
    EXPECT_GT(on_disk(later), 0);
    EXPECT_EQ(on_disk(temporary), 0);
  }
  {
    const Pin all{{&later, 0, 8 * kMib}};
  }
  begin_step(step + 2);
  const Buffer more = Buffer::allocate(12 * kMib);
  EXPECT_GT(on_disk(temporary), 0);
}

TEST_F(Spill, CallbacksAreAsked) {
  const ScopedLimit limit(16 * kMib);
  Buffer held = Buffer::allocate(12 * kMib);
  const int64_t id = add_pressure_callback([&](int64_t) {
    const int64_t freed = held.size_bytes();
    held = Buffer();
    return freed;
  });
  EXPECT_EQ(Buffer::allocate(12 * kMib).size_bytes(), 12 * kMib);
  EXPECT_FALSE(held);
  remove_pressure_callback(id);
}

void write_without_a_pin() {
  Buffer buffer = Buffer::allocate_spillable(kMib);
  {
    const Pin pin{{&buffer, 0, kMib, true}};
    buffer.mutable_data()[0] = std::byte{1};
  }
  std::fprintf(stderr, "read %d", static_cast<int>(buffer.data()[0]));
  buffer.mutable_data()[0] = std::byte{2};
  std::exit(0);
}

// The child of a death test begins anew, with this environment.
TEST(WriteGuardDeathTest, EndsAWriteWithoutAPin) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("HEADRACE_DEBUG_PINS", "1", 1);
  EXPECT_DEATH(write_without_a_pin(), "read 1");
  unsetenv("HEADRACE_DEBUG_PINS");
}

TEST_F(Spill, DiskLimitHolds) {
  const int64_t before = spill_limit();
  set_spill_limit(8 * kMib);
  {
    const ScopedLimit limit(16 * kMib);
    const Buffer first = filled(12 * kMib, 1);
    try {
      const Buffer second = filled(20 * kMib, 2);
      FAIL();
    } catch (const OutOfMemoryError& error) {
      EXPECT_NE(std::string(error.what()).find("the disk has no room"), std::string::npos)
          << error.what();
    }
    EXPECT_TRUE(holds(first, 1));
  }
  set_spill_limit(before);
  EXPECT_THROW(set_spill_limit(-1), InvalidArgumentError);
  EXPECT_THROW(set_spill_directory("/nowhere at all"), InputError);
}

// Each system call of the spill path fails in its turn.
std::atomic<int> calls_left{0};
int failure = 0;

bool fails() {
  if (--calls_left > 0) return false;
  errno = failure;
  return true;
}

ssize_t bad_write(int fd, const void* from, size_t bytes, off_t at) {
  if (!fails()) return pwrite(fd, from, bytes, at);
  return failure == 0 ? pwrite(fd, from, 4096, at) : -1;
}

ssize_t bad_read(int fd, void* to, size_t bytes, off_t at) {
  if (!fails()) return pread(fd, to, bytes, at);
  return failure == 0 ? pread(fd, to, 4096, at) : -1;
}

int bad_allocate(int fd, int mode, off_t at, off_t bytes) {
  return fails() ? -1 : fallocate(fd, mode, at, bytes);
}

void* bad_map(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return fails() ? MAP_FAILED : mmap(at, bytes, protection, flags, fd, offset);
}

TEST_F(Spill, FailingCallsLoseNothing) {
  const SpillCalls whole = spill_calls();
  for (const int code : {ENOSPC, EIO, 0})
    for (const int which : {0, 1, 2, 3})
      for (const int first : {1, 2, 5, 11}) {
        failure = code;
        if (which == 0) spill_calls().write = bad_write;
        if (which == 1) spill_calls().read = bad_read;
        if (which == 2 && code) spill_calls().allocate = bad_allocate;
        if (which == 3 && code) spill_calls().map = bad_map;
        calls_left = first;
        {
          const ScopedLimit limit(16 * kMib);
          try {
            const Buffer one = filled(12 * kMib, 1);
            const Buffer two = filled(24 * kMib, 2);
            EXPECT_TRUE(holds(one, 1));
            EXPECT_TRUE(holds(two, 2));
          } catch (const OutOfMemoryError&) {
          } catch (const InputError&) {
          }
          spill_calls() = whole;
          const Buffer next = filled(24 * kMib, 3);
          EXPECT_TRUE(holds(next, 3));
        }
      }
}

using Clock = std::chrono::steady_clock;
std::atomic<int64_t> write_ns{0};

ssize_t slow_write(int fd, const void* from, size_t bytes, off_t at) {
  const auto begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const ssize_t done = pwrite(fd, from, bytes, at);
  write_ns += (Clock::now() - begin) / std::chrono::nanoseconds(1);
  return done;
}

struct DiskTimes {
  int64_t waited_ns;  // by the maker
  int64_t write_ns;
};

// Of filling a buffer of twice the limit in pieces, with a pause before each. A piece is smaller
// than the room that is kept free.
DiskTimes fill_slowly(int64_t pause_ns) {
  constexpr int64_t kPiece = kMib / 8;
  const ScopedLimit limit(16 * kMib);
  const SpillCalls whole = spill_calls();
  spill_calls().write = slow_write;
  write_ns = 0;
  const int64_t before = spill_statistics().waited_ns;
  Buffer buffer = Buffer::allocate_spillable(32 * kMib);
  auto* const out = buffer.mutable_data();
  for (int64_t at = 0; at < 32 * kMib; at += kPiece) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause_ns));
    const Pin pin{{&buffer, at, at + kPiece, true}};
    std::memset(out + at, 1, kPiece);
  }
  const int64_t waited = spill_statistics().waited_ns - before;
  buffer.seal();
  buffer = {};
  spill_calls() = whole;
  return {waited, write_ns};
}

TEST_F(Spill, CountsWhatThreadsWaitForTheDisk) {
  set_spill_runner(nullptr);  // the maker writes
  const DiskTimes alone = fill_slowly(0);
  EXPECT_GT(alone.write_ns, 0);
  EXPECT_GE(alone.waited_ns, alone.write_ns);
  const SpillStatistics before = spill_statistics();
  const Buffer small = filled(4 * kMib, 1);
  EXPECT_TRUE(holds(small, 1));
  EXPECT_EQ(spill_statistics().waited_ns, before.waited_ns);
}

TEST_F(Spill, WritesWhileTheMakerComputes) {
  // The maker takes twice as long as the writes, which so need not hold it up.
  set_spill_runner(nullptr);
  const int64_t pause_ns = 2 * fill_slowly(0).write_ns / (32 * 8);
  static std::vector<std::jthread> threads;
  static std::mutex mutex;
  set_spill_runner([](std::function<void()> job) {
    const std::lock_guard lock(mutex);
    threads.emplace_back(std::move(job));
  });
  const DiskTimes beside = fill_slowly(pause_ns);
  set_spill_runner(nullptr);
  threads.clear();
  EXPECT_GT(beside.write_ns, 0);
  EXPECT_LT(beside.waited_ns, beside.write_ns / 2);
}

TEST_F(Spill, ForkedChildReadsItsOwn) {
  const ScopedLimit limit(16 * kMib);
  const Buffer shared = filled(32 * kMib, 1);
  const pid_t child = fork();
  if (child == 0) {
    bool right = holds(shared, 1);
    const Buffer own = filled(24 * kMib, 2);
    right &= holds(own, 2) && holds(shared, 1, false);
    _exit(right ? 0 : 1);
  }
  for (uint64_t k = 3; k < 6; ++k) {
    const Buffer other = filled(24 * kMib, k);
    EXPECT_TRUE(holds(other, k));
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(holds(shared, 1));
}

TEST_F(Spill, RandomStepsKeepBytesAndLimit) {
  const char* wish = std::getenv("HEADRACE_OPERATIONS");
  const int64_t steps = wish ? std::atoll(wish) : 3'000;
  const ScopedLimit limit(40 * kMib);
  std::mt19937_64 random(20'261'121);
  std::vector<std::pair<Buffer, uint64_t>> live;
  uint64_t seed = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const uint64_t dice = random() % 100;
    if (live.size() < 3 || (dice < 20 && live.size() < 12)) {
      const auto bytes = static_cast<int64_t>(random() % (24 * kMib)) / 8 * 8 + 8;
      live.emplace_back(filled(bytes, ++seed), seed);
    } else if (dice < 30) {
      std::swap(live[random() % live.size()], live.back());
      live.pop_back();
    } else {
      const auto& [buffer, of] = live[random() % live.size()];
      const int64_t words = buffer.size_bytes() / 8;
      const auto begin = static_cast<int64_t>(random() % static_cast<uint64_t>(words));
      const int64_t end = std::min(words, begin + 1 + static_cast<int64_t>(random() % 300'000));
      std::unique_ptr<Pin> pin;
      if (dice < 90) pin.reset(new Pin{{&buffer, 8 * begin, 8 * end}});
      for (int64_t i = begin; i < end; i += 511)
        ASSERT_EQ(buffer.as<uint64_t>()[i], word_of(of, i)) << "step " << step;
    }
    const MemoryStatistics now = memory_statistics();
    ASSERT_LE(now.used_bytes, now.limit_bytes);
  }
}

}  // namespace
}  // namespace hr
