// SPDX-License-Identifier: Apache-2.0
#include "headrace/memory/resource/machine_memory.h"

#include "headrace/base/control_groups.h"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace hr {

int64_t machine_memory() {
  const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return std::min(bytes, memory_quota(control_groups("memory")));
}

int64_t memory_quota(const std::vector<std::string>& folders) {
  int64_t least = INT64_MAX;
  for (const std::string& folder : folders)
    for (const char* name : {"/memory.max", "/memory.limit_in_bytes"}) {
      std::ifstream file(folder + name);
      if (int64_t most = 0; file >> most && most > 0) least = std::min(least, most);
    }
  return least;
}

}  // namespace hr
