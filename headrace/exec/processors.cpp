// SPDX-License-Identifier: Apache-2.0
// Affinity and cgroup quotas.
#include "headrace/exec/processors.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sstream>
#include <thread>

namespace hr {

namespace {

constexpr int kMany = 1024;

int whole_processors(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return kMany;
  return static_cast<int>(std::clamp<int64_t>((quota + period - 1) / period, 1, kMany));
}

// Of the two files of version 1, or the one of version 2.
int quota_of(const std::string& folder) {
  int64_t quota = 0, period = 0;
  if (std::ifstream both(folder + "/cpu.max"); both >> quota >> period)
    return whole_processors(quota, period);
  std::ifstream first(folder + "/cpu.cfs_quota_us"), second(folder + "/cpu.cfs_period_us");
  return first >> quota && second >> period ? whole_processors(quota, period) : kMany;
}

}  // namespace

int cgroup_processors(const std::string& groups, const std::string& root) {
  int least = std::min(quota_of(root), quota_of(root + "/cpu"));
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/a/b", or "0::/a/b"
    const size_t names = line.find(':'), path = line.find(':', names + 1);
    if (names == std::string::npos || path == std::string::npos) continue;
    const std::string controllers = line.substr(names + 1, path - names - 1);
    const bool is_cpu = ("," + controllers + ",").find(",cpu,") != std::string::npos;
    if (!controllers.empty() && !is_cpu) continue;
    const std::string mount = controllers.empty() ? root : root + "/cpu";
    for (std::string group = line.substr(path + 1); group.size() > 1;
         group.resize(group.rfind('/')))
      least = std::min(least, quota_of(mount + group));
  }
  return least;
}

int usable_processors() {
  cpu_set_t set;
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0
                          ? CPU_COUNT(&set)
                          : static_cast<int>(std::thread::hardware_concurrency());
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), {}};
  return std::max(1, std::min(allowed, cgroup_processors(groups, "/sys/fs/cgroup")));
}

}  // namespace hr
