// SPDX-License-Identifier: Apache-2.0
// Two threads that move memory while others compute.
#include "headrace/exec/background.h"

#include "headrace/base/process_global.h"
#include "headrace/exec/thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace hr {

namespace {

constexpr int kThreads = 2;

class Background {
 public:
  void run(std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (started_ < kThreads && started_ <= busy_ + static_cast<int>(jobs_.size())) {
      start_thread([this] { work(); });
      ++started_;
    }
    wake_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      ++busy_;
      lock.unlock();
      job();
      lock.lock();
      --busy_;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  int started_ = 0;
  int busy_ = 0;
};

}  // namespace

void run_in_background(std::function<void()> job) {
  // A forked child starts a new one: nothing was on its way when it was made.
  fresh_after_fork<Background>().run(std::move(job));
}

}  // namespace hr
