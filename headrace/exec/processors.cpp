// SPDX-License-Identifier: Apache-2.0
// Affinity and cgroup quotas.
#include "headrace/exec/processors.h"

#include "headrace/base/control_groups.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sched.h>
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

int processor_quota(const std::vector<std::string>& folders) {
  int least = kMany;
  for (const std::string& folder : folders) least = std::min(least, quota_of(folder));
  return least;
}

int usable_processors() {
  cpu_set_t set;
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0
                          ? CPU_COUNT(&set)
                          : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(allowed, processor_quota(control_groups("cpu"))));
}

}  // namespace hr
