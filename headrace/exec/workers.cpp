// SPDX-License-Identifier: Apache-2.0
// The worker pool.
#include "headrace/exec/workers.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/exec/background.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/processors.h"
#include "headrace/exec/task_trace.h"
#include "headrace/exec/thread.h"
#include "headrace/exec/working_memory.h"
#include "headrace/memory/log/tag.h"
#include "headrace/memory/resource/resource.h"
#include "headrace/memory/spill/spill.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <vector>

namespace hr {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSlice = std::chrono::milliseconds(50);
// How long threads without work look for more before they sleep: sections that follow one another
// find them awake, and a second process loses little.
constexpr auto kSpin = std::chrono::microseconds(30);

std::atomic<int> thread_count{0};
std::atomic<int64_t> rows_of_morsel{0};
std::atomic<bool (*)()> interrupt_check{nullptr};
std::atomic<void (*)(int64_t, int64_t)> progress_report{nullptr};
thread_local bool is_worker = false;
constinit thread_local int most_threads = std::numeric_limits<int>::max();  // of jobs of this one
// When this thread last looked for an interrupt: jobs may be shorter than a slice.
constinit thread_local Clock::time_point last_look{};

[[noreturn]] void stop_operation() {
  throw Interrupted("interrupted: the operation was stopped; nothing was changed");
}

constinit thread_local const ProgressPart* innermost_part = nullptr;
// Of the outermost job that this thread works on: long tasks of workers look there.
constinit thread_local std::atomic<bool>* is_stopped_here = nullptr;

class ScopedStop {
 public:
  explicit ScopedStop(std::atomic<bool>* is_stopped)
      : before_(std::exchange(is_stopped_here, is_stopped)) {}
  ~ScopedStop() { is_stopped_here = before_; }
  ScopedStop(const ScopedStop&) = delete;
  ScopedStop& operator=(const ScopedStop&) = delete;

 private:
  std::atomic<bool>* before_;
};

// To what was set, as a share of all that this thread has to do.
void report(int64_t done, int64_t count) {
  const auto to = progress_report.load();
  if (!to) return;
  if (!innermost_part) return to(done, count);
  constexpr int64_t kAll = 1'000'000;
  const double share = static_cast<double>(done) / static_cast<double>(std::max<int64_t>(count, 1));
  to(static_cast<int64_t>(ProgressPart::of_all(share) * static_cast<double>(kAll)), kAll);
}

// Only the thread that entered can see the user, never a worker.
bool is_interrupted() {
  const auto check = interrupt_check.load();
  return !is_worker && check && check();
}

// Whether `is_true` becomes true within the time that threads spin.
bool becomes_true(auto&& is_true) {
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (is_true()) return true;
      pause_processor();
    }
  } while (Clock::now() < end);
  return false;
}

int default_threads() {
  if (const char* text = std::getenv("HEADRACE_THREADS"); text && *text) {
    const long count = std::strtol(text, nullptr, 10);
    if (count < 1 || count > 1024)
      throw_error<InvalidArgumentError>("threads", "invalid value of HEADRACE_THREADS",
                                        {{"value", text}}, "set it to 1 to 1024");
    return static_cast<int>(count);
  }
  return std::clamp(usable_processors(), 1, 1024);
}

struct Job {
  Task task;
  int64_t count;
  int most_threads;
  Tag tag;
  ScopedResource* scopes;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};
  std::atomic<int> active{0};  // workers on it; changed under the pool's mutex
  std::atomic<bool> is_itself_stopped{false};
  std::atomic<bool>* is_stopped = is_stopped_here ? is_stopped_here : &is_itself_stopped;
  int64_t waiting = 0;  // what begin_waiting gave to who waits for them; under the mutex
  JobTrace trace;
  std::mutex failure_mutex;
  int64_t failed_at = 0;
  std::exception_ptr failure;

  Job(Task t, int64_t n)
      : task(t),
        count(n),
        most_threads(std::min(hr::most_threads, threads())),
        tag(current_tag()),
        scopes(innermost_scope()),
        trace(n),
        failed_at(n) {}

  // One task; false when none is left.
  bool run_one() {
    const int64_t index = next.fetch_add(1);
    if (index >= count) return false;
    try {
      const RunningTask running;
      const JobTrace::Task traced(trace, index);
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
    const int helpers = static_cast<int>(std::min<int64_t>(job.most_threads, job.count) - 1);
    if (helpers > 0) publish(job, helpers);
    const auto begin = Clock::now();
    bool interrupted = false;
    {
      const ScopedStop stop(job.is_stopped);
      while (job.run_one()) interrupted |= look_around(job, begin);
    }
    if (helpers > 0) {
      withdraw(job);
      interrupted |= wait_for_workers(job, begin);
    }
    job.trace.finish();
    if (interrupted || *job.is_stopped) stop_operation();
    if (job.failure) std::rethrow_exception(job.failure);
  }

 private:
  // Every 50 ms of the thread; progress is that of jobs that take as long.
  static bool look_around(Job& job, Clock::time_point begin) {
    const auto now = Clock::now();
    if (is_worker || now - last_look < kSlice) return false;
    last_look = now;
    if (innermost_part || now - begin >= kSlice) report(job.done, job.count);
    if (!is_interrupted()) return false;
    *job.is_stopped = true;
    job.stop();
    return true;
  }

  void publish(Job& job, int helpers) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
      while (workers_ < helpers) {
        try {
          start_thread([this, lane = workers_ + 1] { work(lane); });
        } catch (const std::system_error&) {
          break;  // the system has no thread to give: the work is done by fewer
        }
        ++workers_;
      }
    }
    ++published_;
    published_.notify_one();  // who wakes up wakes others
  }

  void withdraw(Job& job) {
    const std::lock_guard lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  }

  // Until the workers are done with a job that no other can find any more; true when interrupted.
  bool wait_for_workers(Job& job, Clock::time_point begin) {
    bool interrupted = false;
    becomes_true([&] { return job.active == 0; });
    std::unique_lock lock(mutex_);
    if (job.active > 0) job.waiting = begin_waiting();
    while (!idle_.wait_for(lock, kSlice, [&] { return job.active == 0; })) {
      lock.unlock();
      interrupted |= look_around(job, begin);
      lock.lock();
    }
    return interrupted;
  }

  Job* runnable() {
    if (busy_ >= threads() - 1) return nullptr;
    for (Job* job : jobs_)
      if (job->next.load(std::memory_order_relaxed) < job->count &&
          job->active + 1 < job->most_threads)
        return job;
    return nullptr;
  }

  // The next one to work on, once there is one.
  Job& take_job() {
    for (;;) {
      const uint32_t seen = published_;
      {
        const std::lock_guard lock(mutex_);
        if (Job* const job = runnable()) {
          ++job->active;
          ++busy_;
          return *job;
        }
      }
      if (!becomes_true([&] { return published_ != seen; })) published_.wait(seen);
    }
  }

  void leave(Job& job) {
    const std::lock_guard lock(mutex_);
    --busy_;
    if (--job.active > 0) return;
    end_waiting(job.waiting);
    idle_.notify_all();
  }

  void work(int lane) {
    is_worker = true;
    set_lane(lane);
    for (;;) {
      Job& job = take_job();
      if (job.next.load(std::memory_order_relaxed) < job.count)
        for (int i = 0; i < 2; ++i) published_.notify_one();
      const RunningTask running;  // until who waits for the job counts as at work again
      {
        const ScopedTag tag(job.tag);
        const BorrowedScopes scopes(job.scopes);
        const MostThreads most(job.most_threads);
        const ScopedStop stop(job.is_stopped);
        while (job.run_one()) {
        }
      }
      leave(job);
    }
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Job*> jobs_;  // the oldest first
  int workers_ = 0;
  int busy_ = 0;
  std::atomic<uint32_t> published_{0};  // how many jobs were; workers sleep on it
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

MostThreads::MostThreads(int count) : before_(most_threads) {
  most_threads = std::min(most_threads, count);
}

MostThreads::~MostThreads() {
  most_threads = before_;
}

int64_t morsel_rows() {
  const int64_t rows = rows_of_morsel.load(std::memory_order_relaxed);
  if (rows > 0) return rows;
  const char* const text = std::getenv("HEADRACE_MORSEL_ROWS");
  set_morsel_rows(text && *text ? std::strtoll(text, nullptr, 10) : kMorselRows);
  return morsel_rows();
}

int64_t morsel_rows(int64_t rows) {
  // Shorter ones cost more than they share; more of them are no more even.
  constexpr int64_t kLeast = int64_t{1} << 13, kMost = 128;
  if (rows <= 4 * kLeast) return morsel_rows();
  const auto even = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows / kMost)));
  return std::min(std::max(even, kLeast), morsel_rows());
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
  if (is_stopped_here && is_stopped_here->load(std::memory_order_relaxed)) stop_operation();
  if (!is_worker && Clock::now() - last_look >= kSlice) look_for_interrupt_now();
}

void look_for_interrupt_now() {
  last_look = Clock::now();
  if (!is_interrupted()) return;
  if (is_stopped_here) *is_stopped_here = true;
  stop_operation();
}

void set_progress(void (*report)(int64_t, int64_t)) {
  progress_report = report;
}

void report_progress(int64_t done, int64_t count) {
  constinit static thread_local Clock::time_point last_report{};  // the jobs look, too
  const auto now = Clock::now();
  if (is_worker || now - last_report < kSlice) return;
  last_report = now;
  report(done, count);
  look_for_interrupt_now();
}

ProgressPart::ProgressPart(int64_t begin, int64_t end, int64_t whole) : outer_(innermost_part) {
  const auto size = static_cast<double>(whole);
  begin_ = whole > 0 ? static_cast<double>(begin) / size : 0.0;
  end_ = whole > 0 ? static_cast<double>(end) / size : 1.0;
  innermost_part = this;
}

ProgressPart::~ProgressPart() {
  innermost_part = outer_;
}

double ProgressPart::of_all(double share) {
  for (const ProgressPart* part = innermost_part; part; part = part->outer_)
    share = part->begin_ + (part->end_ - part->begin_) * std::min(share, 1.0);
  return share;
}

}  // namespace hr
