// SPDX-License-Identifier: Apache-2.0
// Threads that fit next to what all of them share.
#include "headrace/exec/working_memory.h"

#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/spill/spill.h"

#include <algorithm>
#include <limits>

namespace hr {
namespace {

int admitted_threads(WorkingBytes bytes) {
  const int most = threads();
  if (memory_limit() == std::numeric_limits<int64_t>::max()) return most;
  int64_t count = most;
  if (bytes.thread > 0)
    count = std::clamp<int64_t>((attainable_bytes() - bytes.all) / bytes.thread, 1, most);
  make_room(bytes.all + count * bytes.thread);
  return static_cast<int>(count);
}

}  // namespace

WorkingMemory::WorkingMemory(WorkingBytes bytes)
    : threads_(admitted_threads(bytes)), most_(threads_) {}

}  // namespace hr
