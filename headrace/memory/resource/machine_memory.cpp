// SPDX-License-Identifier: Apache-2.0
#include "headrace/memory/resource/machine_memory.h"

#include <cstdio>
#include <initializer_list>
#include <unistd.h>

namespace hr {

int64_t machine_memory() {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (FILE* const file = std::fopen(path, "re")) {
      long long most = 0;  // no number ("max") where there is no limit
      if (std::fscanf(file, "%lld", &most) == 1 && most > 0 && most < bytes) bytes = most;
      std::fclose(file);
    }
  return bytes;
}

}  // namespace hr
