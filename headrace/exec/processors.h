// SPDX-License-Identifier: Apache-2.0
// How many processors this process may use.
#pragma once
#include "headrace/base/api.h"

#include <string>
#include <vector>

namespace hr {

/// Processors by the affinity of the calling thread and the quotas of the control groups that this
/// process is in (the least of them, rounded up); at least 1.
HR_API int usable_processors();

/// The least quota of processors in the folders of control groups; a large number where none is.
HR_API int processor_quota(const std::vector<std::string>& folders);

/// Tells the processor that the thread waits for another.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace hr
