// SPDX-License-Identifier: Apache-2.0
// The memory of a container is what the control groups leave of the machine's.
#include "headrace/memory/resource/machine_memory.h"

#include "headrace/base/control_groups.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace hr {

namespace {

TEST(MachineMemory, TheLeastLimitOfAllGroupsCounts) {
  const std::string root = testing::TempDir() + "memory-groups-" + std::to_string(getpid());
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + file).parent_path());
    std::ofstream(root + file) << text;
  };
  const auto quota = [&](const std::string& groups) {
    return memory_quota(control_groups("memory", groups, root));
  };
  EXPECT_EQ(quota("0::/a/b\n"), INT64_MAX);
  write("/a/memory.max", "5000000\n");
  write("/a/b/memory.max", "max\n");
  EXPECT_EQ(quota("0::/a/b\n"), 5'000'000);
  EXPECT_EQ(quota("0::/c\n"), INT64_MAX);
  write("/memory/docker/memory.limit_in_bytes", "300000\n");
  EXPECT_EQ(quota("3:memory:/docker\n0::/a/b\n"), 300'000);
  EXPECT_EQ(quota("3:cpu:/docker\n0::/a/b\n"), 5'000'000);
  std::filesystem::remove_all(root);
}

TEST(MachineMemory, IsThatOfTheMachineAtMost) {
  const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  EXPECT_GT(machine_memory(), 0);
  EXPECT_LE(machine_memory(), bytes);
}

}  // namespace

}  // namespace hr
