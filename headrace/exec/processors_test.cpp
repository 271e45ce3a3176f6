// SPDX-License-Identifier: Apache-2.0
// Quotas of cgroups are found where the process is and above.
#include "headrace/exec/processors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace hr {

namespace {

class Cgroups : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  std::string root_ = testing::TempDir() + "cgroups-" + std::to_string(getpid());
};

TEST_F(Cgroups, NoQuotaIsNoLimit) {
  EXPECT_GE(cgroup_processors("", root_), 1024);
  write("cpu.max", "max 100000\n");
  EXPECT_GE(cgroup_processors("0::/\n", root_), 1024);
}

TEST_F(Cgroups, TheLeastOnTheWayUpCounts) {
  write("cpu.max", "max 100000\n");
  write("a/cpu.max", "250000 100000\n");
  write("a/b/cpu.max", "700000 100000\n");
  EXPECT_EQ(cgroup_processors("0::/a/b\n", root_), 3);
  EXPECT_EQ(cgroup_processors("0::/a\n", root_), 3);
  EXPECT_GE(cgroup_processors("0::/\n", root_), 1024);
  write("cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_processors("0::/a/b\n", root_), 1);
}

TEST_F(Cgroups, VersionOne) {
  write("cpu/docker/1/cpu.cfs_quota_us", "400000\n");
  write("cpu/docker/1/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_processors("7:memory:/x\n4:cpu,cpuacct:/docker/1\n", root_), 4);
  write("cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  EXPECT_GE(cgroup_processors("4:cpu,cpuacct:/docker/1\n", root_), 1024);
}

TEST_F(Cgroups, OtherTextsAreNoLimit) {
  EXPECT_GE(cgroup_processors("nothing\n:::\n0::\n4:cpu\n", root_), 1024);
  write("cpu.max", "many\n");
  EXPECT_GE(cgroup_processors("0::/\n", root_), 1024);
  EXPECT_GE(usable_processors(), 1);
}

}  // namespace

}  // namespace hr
