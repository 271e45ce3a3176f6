// SPDX-License-Identifier: Apache-2.0
// What fuzzers of readers share: a small budget, and the same outcome of two ways.
#pragma once
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"

#include <cstdint>
#include <stdexcept>
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

// The exception thrown below is not an hr::Error: nothing catches it, so the fuzzer stops on it.

/// What stands around a place, with dots for what cannot be printed.
inline std::string shown_at(const std::string& text, size_t at) {
  std::string part = text.substr(at < 300 ? 0 : at - 300, 1000);
  for (char& c : part)
    if (c != '\n' && (c < ' ' || c > '~')) c = '.';
  return part;
}

inline void expect_same(const std::string& a, const std::string& b, const char* what) {
  if (a == b || a == kTooLarge || b == kTooLarge) return;
  size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  throw std::logic_error(std::string("differs: ") + what + " at " + std::to_string(at) +
                         "\n--- one\n" + shown_at(a, at) + "\n--- other\n" + shown_at(b, at));
}

inline void expect_memory_kept() {
  const MemoryStatistics memory = memory_statistics();
  if (memory.peak_bytes <= kLimit && memory.used_bytes == 0) return;
  throw std::logic_error("memory: peak " + std::to_string(memory.peak_bytes) + ", left " +
                         std::to_string(memory.used_bytes));
}

}  // namespace hr::fuzzing
