// SPDX-License-Identifier: Apache-2.0
// Pages of chunks that no pin holds for writing are read-only.
#include "headrace/memory/spill/write_guard.h"

#include "headrace/base/process_global.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <cstdlib>
#include <string_view>
#include <sys/mman.h>

namespace hr {

namespace {

void protect(const Residency& residency, int64_t chunk, int protection) {
  mprotect(residency.address(chunk), static_cast<size_t>(residency.mapped(chunk)), protection);
}

struct Guard {
  ForkMutex mutex;
};

ForkMutex& guard_mutex() {
  return process_global<Guard>().mutex;
}

}  // namespace

bool guards_writes() {
  static const bool wish = [] {
    const char* const text = std::getenv("HEADRACE_DEBUG_PINS");
    return text && std::string_view(text) == "1";
  }();
  return wish;
}

void guard_writes(Residency& residency) {
  residency.writers.resize(residency.chunks.size());
  guard_again(residency, 0, residency.size() - 1);
}

void end_guard(Residency& residency) {
  for (int64_t i = 0; i < static_cast<int64_t>(residency.writers.size()); ++i)
    protect(residency, i, PROT_READ | PROT_WRITE);
}

void begin_write(Residency& residency, int64_t chunk) {
  if (residency.writers.empty()) return;
  const std::lock_guard lock(guard_mutex());
  if (residency.writers[static_cast<size_t>(chunk)]++ == 0)
    protect(residency, chunk, PROT_READ | PROT_WRITE);
}

void end_write(Residency& residency, int64_t chunk) {
  if (residency.writers.empty()) return;
  const std::lock_guard lock(guard_mutex());
  if (--residency.writers[static_cast<size_t>(chunk)] == 0) protect(residency, chunk, PROT_READ);
}

void guard_again(Residency& residency, int64_t first, int64_t last) {
  if (residency.writers.empty()) return;
  for (int64_t i = first; i <= last; ++i) protect(residency, i, PROT_READ);
}

}  // namespace hr
