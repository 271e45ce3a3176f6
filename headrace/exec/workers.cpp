// SPDX-License-Identifier: Apache-2.0
// The worker pool.
#include "headrace/exec/workers.h"

#include "headrace/base/error.h"
#include "headrace/memory/tag.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hr {

namespace {

std::atomic<int> thread_count{0};

int default_threads() {
  if (const char* text = std::getenv("HEADRACE_THREADS")) return std::max(1, std::atoi(text));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

int threads() {
  int count = thread_count;
  if (count == 0) thread_count = count = default_threads();
  return count;
}

void set_threads(int count) {
  if (count < 1 || count > 1024)
    throw_error<InvalidArgumentError>("threads", "the count is out of range", {{"count", count}},
                                      "pass 1 to 1024");
  thread_count = count;
}

void parallel_for(int64_t count, Task task) {
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  int64_t failed_at = count;
  std::exception_ptr failure;
  const Tag tag = current_tag();
  auto work = [&] {
    const ScopedTag scope(tag);
    for (int64_t i; (i = next.fetch_add(1)) < count;) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
        next = count;
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (int64_t i = 1; i < std::min<int64_t>(threads(), count); ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

void set_interrupt_check(bool (*)()) {}
void set_progress(void (*)(int64_t, int64_t)) {}

}  // namespace hr
