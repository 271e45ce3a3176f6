// SPDX-License-Identifier: Apache-2.0
// Starting threads.
#include "headrace/exec/thread.h"

#include "headrace/memory/sync/thread_data.h"

#include <atomic>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace hr {

void start_thread(std::function<void()> run) {
  enum : int { kStarting, kRuns, kRefused };
  try {
    const auto state = std::make_shared<std::atomic<int>>(kStarting);
    std::thread([state, run = std::move(run)] {
      const bool runs = take_thread_data();
      *state = runs ? kRuns : kRefused;
      state->notify_one();
      if (runs) run();
    }).detach();
    state->wait(kStarting);
    if (*state == kRuns) return;
  } catch (const std::bad_alloc&) {  // for what a thread is made of
  }
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

}  // namespace hr
