// SPDX-License-Identifier: Apache-2.0
// Quotas of control groups are found where the process is and above.
#include "headrace/exec/processors.h"

#include "headrace/base/control_groups.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace hr {

namespace {

class ControlGroups : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  int quota(const std::string& groups) const {
    return processor_quota(control_groups("cpu", groups, root_));
  }

  std::string root_ = testing::TempDir() + "cgroups-" + std::to_string(getpid());
};

TEST_F(ControlGroups, NoQuotaIsNoLimit) {
  EXPECT_GE(quota(""), 1024);
  write("cpu.max", "max 100000\n");
  EXPECT_GE(quota("0::/\n"), 1024);
}

TEST_F(ControlGroups, TheLeastOnTheWayUpCounts) {
  write("cpu.max", "max 100000\n");
  write("a/cpu.max", "250000 100000\n");
  write("a/b/cpu.max", "700000 100000\n");
  EXPECT_EQ(quota("0::/a/b\n"), 3);
  EXPECT_EQ(quota("0::/a\n"), 3);
  EXPECT_GE(quota("0::/\n"), 1024);
  write("cpu.max", "50000 100000\n");
  EXPECT_EQ(quota("0::/a/b\n"), 1);
}

TEST_F(ControlGroups, VersionOne) {
  write("cpu/docker/1/cpu.cfs_quota_us", "400000\n");
  write("cpu/docker/1/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("7:memory:/x\n4:cpu,cpuacct:/docker/1\n"), 4);
  write("cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  EXPECT_GE(quota("4:cpu,cpuacct:/docker/1\n"), 1024);
}

TEST_F(ControlGroups, OtherTextsAreNoLimit) {
  EXPECT_GE(quota("nothing\n:::\n0::\n4:cpu\n"), 1024);
  write("cpu.max", "many\n");
  EXPECT_GE(quota("0::/\n"), 1024);
  EXPECT_GE(usable_processors(), 1);
}

}  // namespace

}  // namespace hr
