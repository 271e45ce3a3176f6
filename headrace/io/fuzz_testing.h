// SPDX-License-Identifier: Apache-2.0
// What fuzzers of readers share: a small budget, and the same outcome of two ways.
#pragma once
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace hr::fuzzing {

/// Small, so that what unpacks to gigabytes is refused soon.
inline constexpr int64_t kLimit = int64_t{1} << 24;
inline const std::string kTooLarge = "too large";  // how much memory a way needs may differ

/// One thread: what several could change is the order of their pieces alone.
inline int begin() {
  set_threads(1);
  set_memory_limit(kLimit);
  return 0;
}

inline void expect_same(const std::string& a, const std::string& b, const char* what) {
  if (a == b || a == kTooLarge || b == kTooLarge) return;
  std::fprintf(stderr, "differs: %s\n--- one\n%.2000s\n--- other\n%.2000s\n", what, a.c_str(),
               b.c_str());
  std::abort();
}

inline void expect_memory_kept() {
  const MemoryStatistics memory = memory_statistics();
  if (memory.peak_bytes <= kLimit && memory.used_bytes == 0) return;
  std::fprintf(stderr, "memory: peak %lld, left %lld\n", static_cast<long long>(memory.peak_bytes),
               static_cast<long long>(memory.used_bytes));
  std::abort();
}

}  // namespace hr::fuzzing
