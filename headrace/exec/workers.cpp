// SPDX-License-Identifier: Apache-2.0
// The worker pool.
#include "headrace/exec/workers.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/exec/background.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/thread.h"
#include "headrace/memory/log/tag.h"
#include "headrace/memory/resource/resource.h"
#include "headrace/memory/spill/spill.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

namespace hr {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSlice = std::chrono::milliseconds(50);

std::atomic<int> thread_count{0};
std::atomic<int64_t> rows_of_morsel{0};
std::atomic<bool (*)()> interrupt_check{nullptr};
std::atomic<void (*)(int64_t, int64_t)> progress_report{nullptr};
thread_local bool is_worker = false;
// When this thread last looked for an interrupt: jobs may be shorter than a slice.
constinit thread_local Clock::time_point last_look{};

[[noreturn]] void stop_operation() {
  throw Interrupted("interrupted: the operation was stopped; nothing was changed");
}

// Only the thread that entered can see the user, never a worker.
bool is_interrupted() {
  const auto check = interrupt_check.load();
  return !is_worker && check && check();
}

// The whole processors that a cgroup's quota allows, or a large number.
int cgroup_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  int64_t quota = 0;
  int64_t period = 0;
  if (!(file >> quota >> period) || period <= 0) return 1024;
  return static_cast<int>(std::clamp<int64_t>((quota + period - 1) / period, 1, 1024));
}

int default_threads() {
  if (const char* text = std::getenv("HEADRACE_THREADS"); text && *text) {
    const long count = std::strtol(text, nullptr, 10);
    if (count < 1 || count > 1024)
      throw_error<InvalidArgumentError>("threads", "invalid value of HEADRACE_THREADS",
                                        {{"value", text}}, "set it to 1 to 1024");
    return static_cast<int>(count);
  }
  cpu_set_t set;
  const int usable = sched_getaffinity(0, sizeof set, &set) == 0
                         ? CPU_COUNT(&set)
                         : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(std::min(usable, cgroup_quota()), 1, 1024);
}

struct Job {
  Task task;
  int64_t count;
  Tag tag;
  ScopedResource* scopes;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};
  int active = 0;       // workers on it; under the pool's mutex, as is the next one
  int64_t waiting = 0;  // what begin_waiting gave to the thread that waits for them
  std::mutex failure_mutex;
  int64_t failed_at = 0;
  std::exception_ptr failure;

  Job(Task t, int64_t n)
      : task(t), count(n), tag(current_tag()), scopes(innermost_scope()), failed_at(n) {}

  // One task; false when none is left.
  bool run_one() {
    const int64_t index = next.fetch_add(1);
    if (index >= count) return false;
    try {
      const RunningTask running;
      task(index);
    } catch (...) {
      stop();
      const std::lock_guard lock(failure_mutex);
      if (index < failed_at) {
        failed_at = index;
        failure = std::current_exception();
      }
    }
    ++done;
    return true;
  }

  // Tasks below a failed one were handed out before it, so no more need to be.
  void stop() { next = count; }
};

class Pool {
 public:
  void run(Job& job) {
    const int helpers = static_cast<int>(std::min<int64_t>(threads() - 1, job.count - 1));
    if (helpers > 0) publish(job, helpers);
    const auto begin = Clock::now();
    bool interrupted = false;
    while (job.run_one()) interrupted |= look_around(job, begin);
    if (helpers > 0) {
      std::unique_lock lock(mutex_);
      jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
      if (job.active > 0) job.waiting = begin_waiting();
      while (!idle_.wait_for(lock, kSlice, [&] { return job.active == 0; })) {
        lock.unlock();
        interrupted |= look_around(job, begin);
        lock.lock();
      }
    }
    if (interrupted) stop_operation();
    if (job.failure) std::rethrow_exception(job.failure);
  }

 private:
  // Every 50 ms of the thread; progress is that of jobs that take as long.
  static bool look_around(Job& job, Clock::time_point begin) {
    const auto now = Clock::now();
    if (is_worker || now - last_look < kSlice) return false;
    last_look = now;
    if (const auto report = progress_report.load(); report && now - begin >= kSlice)
      report(job.done, job.count);
    if (!is_interrupted()) return false;
    job.stop();
    return true;
  }

  void publish(Job& job, int helpers) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    while (workers_ < helpers) {
      try {
        start_thread([this] { work(); });
      } catch (const std::system_error&) {
        break;  // the system has no thread to give: the work is done by fewer
      }
      ++workers_;
    }
    for (int i = 0; i < helpers; ++i) wake_.notify_one();
  }

  Job* runnable() {
    for (Job* job : jobs_)
      if (job->next.load(std::memory_order_relaxed) < job->count && job->active < threads() - 1)
        return job;
    return nullptr;
  }

  void work() {
    is_worker = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      wake_.wait(lock, [&] { return (job = runnable()) != nullptr; });
      ++job->active;
      lock.unlock();
      const RunningTask running;  // until who waits for the job counts as at work again
      {
        const ScopedTag tag(job->tag);
        const BorrowedScopes scopes(job->scopes);
        while (job->run_one()) {
        }
      }
      lock.lock();
      if (--job->active == 0) {
        end_waiting(job->waiting);
        idle_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::vector<Job*> jobs_;
  int workers_ = 0;
};

// Workers wait in it until the process ends.
Pool& pool() {
  return fresh_after_fork<Pool>();
}

}  // namespace

int threads() {
  int count = thread_count.load(std::memory_order_relaxed);
  if (count == 0) thread_count = count = default_threads();
  return count;
}

void set_threads(int count) {
  if (count < 1 || count > 1024)
    throw_error<InvalidArgumentError>("threads", "the count is out of range", {{"count", count}},
                                      "pass 1 to 1024");
  thread_count = count;
}

int64_t morsel_rows() {
  const int64_t rows = rows_of_morsel.load(std::memory_order_relaxed);
  if (rows > 0) return rows;
  const char* const text = std::getenv("HEADRACE_MORSEL_ROWS");
  set_morsel_rows(text && *text ? std::strtoll(text, nullptr, 10) : kMorselRows);
  return morsel_rows();
}

void set_morsel_rows(int64_t rows) {
  if (rows < 64 || rows > kMorselRows || rows % 64 != 0)
    throw_error<InvalidArgumentError>("morsel_rows", "invalid morsel size", {{"rows", rows}},
                                      "pass a multiple of 64 up to 131072");
  rows_of_morsel = rows;
}

void parallel_for(int64_t count, Task task) {
  if (count <= 0) return;
  [[maybe_unused]] static const bool registered = (set_spill_runner(run_in_background), true);
  Job job(task, count);
  pool().run(job);
}

void set_interrupt_check(bool (*check)()) {
  interrupt_check = check;
}

void look_for_interrupt() {
  if (Clock::now() - last_look >= kSlice) look_for_interrupt_now();
}

void look_for_interrupt_now() {
  last_look = Clock::now();
  if (is_interrupted()) stop_operation();
}

void set_progress(void (*report)(int64_t, int64_t)) {
  progress_report = report;
}

}  // namespace hr
