// SPDX-License-Identifier: Apache-2.0
// The switch of event log, ledger and tags.
#include "headrace/memory/log/trace.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace hr {

namespace {

enum State : int { kUnread, kOff, kOn };

constinit std::atomic<int> state{kUnread};
constinit std::atomic<bool> stacks{false};

int read_environment() {
  const char* text = std::getenv("HEADRACE_MEMORY_TRACE");
  int expected = kUnread;
  const int first = text && std::string_view(text) == "0" ? kOff : kOn;
  return state.compare_exchange_strong(expected, first) ? first : expected;
}

}  // namespace

bool memory_trace() {
  const int now = state.load(std::memory_order_relaxed);
  return (now == kUnread ? read_environment() : now) == kOn;
}

void set_memory_trace(bool on) {
  state.store(on ? kOn : kOff, std::memory_order_relaxed);
}

bool stack_tracking() {
  return stacks.load(std::memory_order_relaxed);
}

void set_stack_tracking(bool on) {
  stacks.store(on, std::memory_order_relaxed);
}

}  // namespace hr
