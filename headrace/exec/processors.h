// SPDX-License-Identifier: Apache-2.0
// How many processors this process may use.
#pragma once
#include "headrace/base/api.h"

#include <string>

namespace hr {

/// Processors by the affinity of the calling thread and the quotas of the cgroups that this process
/// is in (the least of them, rounded up); at least 1.
HR_API int usable_processors();

/// The least quota on the way from the cgroups that `groups` lists (the text of /proc/self/cgroup)
/// up to those at `root` (/sys/fs/cgroup), both versions; a large number where there is none.
HR_API int cgroup_processors(const std::string& groups, const std::string& root);

/// Tells the processor that the thread waits for another.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace hr
