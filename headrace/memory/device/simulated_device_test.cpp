// SPDX-License-Identifier: Apache-2.0
// The simulated device's memory: settings, limit, holes, poison, and no access from the host.
#include "headrace/memory/device/simulated_device.h"

#include "headrace/base/error.h"
#include "headrace/memory/buffer/buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace hr {

namespace {

using testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

void open_small(int64_t limit = 16 * kMiB) {
  SimulatedSettings settings;
  settings.limit_bytes = limit;
  open_simulated(settings);
}

}  // namespace

TEST(SimulatedDevice, ReadsItsSettings) {
  EXPECT_EQ(parse_simulated("sim"), SimulatedSettings{});
  EXPECT_EQ(parse_simulated("sim:"), SimulatedSettings{});
  const SimulatedSettings all =
      parse_simulated("sim:devices=3,limit=256MB,h2d=12GB/s,d2h=500MB/s,latency=1.5ms");
  EXPECT_EQ(all.devices, 3);
  EXPECT_EQ(all.limit_bytes, 256'000'000);
  EXPECT_EQ(all.to_device, 12e9);
  EXPECT_EQ(all.to_host, 5e8);
  EXPECT_EQ(all.latency_ns, 1'500'000);
  for (const char* bad : {"", "simulated", "sim:x=1", "sim:limit", "sim:limit=", "sim:limit=0",
                          "sim:h2d=12GB", "sim:h2d=0B/s", "sim:latency=20", "sim:latency=-1us",
                          "sim:latency=nanus", "sim:latency=20s", "sim:,limit=1MB", "sim:devices=0",
                          "sim:devices=17", "sim:devices=2x", "cuda"})
    EXPECT_THROW(parse_simulated(bad), InvalidArgumentError) << bad;
}

TEST(SimulatedDevice, EachDeviceHasItsOwnMemoryAndLimit) {
  open_simulated({.devices = 2, .limit_bytes = kMiB});
  {
    const Buffer first = Buffer::allocate(kMiB, simulated_resource(0));
    const Buffer second = Buffer::allocate(kMiB / 2, simulated_resource(1));
    EXPECT_EQ(second.place().name(), "sim:1");
    EXPECT_EQ(simulated_statistics(0).used_bytes, kMiB);
    EXPECT_EQ(simulated_statistics(1).used_bytes, kMiB / 2);
    EXPECT_THROW(Buffer::allocate(kMiB, simulated_resource(1)), OutOfMemoryError);
    *simulated_alias("test", second.data(), 1) = std::byte{7};
    EXPECT_NE(*simulated_alias("test", first.data(), 1), std::byte{7});
    try {
      check_simulated("test", 2);
      FAIL();
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("device='sim:2', devices=2"));
    }
  }
  open_small();
}

TEST(SimulatedDevice, TheHostCannotTouchItsMemory) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  open_small();
  const Buffer there = Buffer::allocate(5000, simulated_resource());
  EXPECT_EQ(there.place(), simulated);
  EXPECT_EQ(there.place().name(), "sim:0");
  EXPECT_FALSE(there.place().is_host());
  const volatile std::byte* address = there.data();
  EXPECT_DEATH({ [[maybe_unused]] const std::byte read = *address; }, "");
  EXPECT_DEATH({ std::memset(const_cast<std::byte*>(there.data()), 0, 1); }, "");
  std::byte* alias = simulated_alias("test", there.data(), 5000);
  for (int64_t i = 0; i < 5000; ++i) ASSERT_EQ(alias[i], std::byte{0xDF});
}

TEST(SimulatedDevice, HasABudgetOfItsOwn) {
  open_small();
  const int64_t host_before = memory_statistics().used_bytes;
  const int64_t foreign_before = memory_statistics().foreign_bytes;
  const MemoryStatistics before = memory_statistics(simulated);
  EXPECT_EQ(before.used_bytes, 0);
  EXPECT_EQ(before.limit_bytes, 16 * kMiB);
  {
    const Buffer half = Buffer::allocate(8 * kMiB, simulated_resource());
    EXPECT_EQ(memory_statistics(simulated).used_bytes, 8 * kMiB);
    EXPECT_EQ(memory_statistics().used_bytes, host_before);
    EXPECT_EQ(memory_statistics().foreign_bytes, foreign_before);
    try {
      Buffer::allocate(9 * kMiB, simulated_resource());
      FAIL();
    } catch (const OutOfMemoryError& error) {
      EXPECT_THAT(error.what(), HasSubstr("out of memory on the device: requested=9.4 MB, "
                                          "limit=16.8 MB, used=8.4 MB, tier=sim:0"));
      EXPECT_THAT(error.what(), HasSubstr("largest_hole"));
      EXPECT_EQ(error.limit_bytes, 16 * kMiB);
    }
    EXPECT_NO_THROW(Buffer::allocate(8 * kMiB, simulated_resource()));
  }
  EXPECT_EQ(memory_statistics(simulated).used_bytes, 0);
  EXPECT_EQ(memory_statistics(simulated).peak_bytes, 16 * kMiB);
}

TEST(SimulatedDevice, FreedBytesAreFound) {
  open_small();
  Buffer first = Buffer::allocate(1000, simulated_resource());
  const std::byte* address = first.data();
  EXPECT_NO_THROW(simulated_alias("add", address + 999, 1));
  EXPECT_THROW(simulated_alias("add", address + 999, 100), DeviceError);
  EXPECT_THROW(simulated_alias("add", &first, 1), DeviceError);
  first = {};
  try {
    simulated_alias("add", address, 1000);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("add: the bytes are in no block of the device"));
  }
}

TEST(SimulatedDevice, BlocksNeverOverlapAndHolesJoin) {
  open_small();
  std::mt19937 random(3);
  std::map<const std::byte*, Buffer> live;
  for (int i = 0; i < 20'000; ++i) {
    if (!live.empty() && random() % 2) {
      live.erase(std::next(live.begin(), static_cast<int>(random() % live.size())));
      continue;
    }
    const auto size = static_cast<int64_t>(1 + random() % 300'000);
    try {
      Buffer made = Buffer::allocate(size, simulated_resource());
      const std::byte* at = made.data();
      ASSERT_EQ(reinterpret_cast<uintptr_t>(at) % 256, 0u);
      const auto next = live.lower_bound(at);
      if (next != live.end()) {
        ASSERT_LE(at + size, next->first);
      }
      if (next != live.begin()) {
        const auto before = std::prev(next);
        ASSERT_LE(before->first + before->second.size_bytes(), at);
      }
      live.emplace(at, std::move(made));
    } catch (const OutOfMemoryError&) {
      live.erase(live.begin());
    }
  }
  live.clear();
  EXPECT_EQ(memory_statistics(simulated).used_bytes, 0);
  EXPECT_NO_THROW(Buffer::allocate(16 * kMiB, simulated_resource()));  // one hole again
}

TEST(SimulatedDevice, KeepsItsSettingsWhileItIsUsed) {
  open_small();
  {
    const Buffer there = Buffer::allocate(1, simulated_resource());
    EXPECT_NO_THROW(open_small());
    EXPECT_THROW(open_small(kMiB), InvalidArgumentError);
  }
  EXPECT_NO_THROW(open_small(kMiB));
  EXPECT_EQ(simulated_settings().limit_bytes, kMiB);
}

TEST(SimulatedDevice, AForkedChildIsRefused) {
  open_small();
  Buffer there = Buffer::allocate(1000, simulated_resource());
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      Buffer::allocate(10, simulated_resource());
    } catch (const DeviceError& error) {
      status = std::strstr(error.what(), "spawn") ? 0 : 2;
    }
    there = {};  // frees nothing of the parent's
    _exit(status);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NO_THROW(simulated_alias("test", there.data(), 1000));
}

}  // namespace hr
