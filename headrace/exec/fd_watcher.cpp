// SPDX-License-Identifier: Apache-2.0
// The watching thread.
#include "headrace/exec/fd_watcher.h"

#include "headrace/base/error.h"
#include "headrace/exec/thread.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sys/epoll.h>
#include <system_error>
#include <unistd.h>

namespace hr {

namespace {

using Ready = std::shared_ptr<std::function<bool()>>;

class Watcher {
 public:
  void add(int descriptor, std::function<bool()> ready) {
    const std::lock_guard lock(mutex_);
    try {
      start();
      watched_[descriptor] = std::make_shared<std::function<bool()>>(std::move(ready));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.fd = descriptor;
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) refuse(errno);
    } catch (...) {
      watched_.erase(descriptor);
      close(descriptor);
      throw;
    }
  }

  void lock() { mutex_.lock(); }

  void unlock() { mutex_.unlock(); }

  // In a forked child, whose thread stayed with the parent.
  void close_all() {
    for (const auto& [descriptor, ready] : watched_) close(descriptor);
    if (epoll_ >= 0) close(epoll_);
    watched_.clear();
  }

 private:
  [[noreturn]] static void refuse(int code) {
    throw InputError(error_message("share", "the system watches no connection",
                                   {{"reason", std::strerror(code)}}),
                     {}, 0, 0, code);
  }

  void start() {
    if (epoll_ >= 0) return;
    const int made = epoll_create1(EPOLL_CLOEXEC);
    if (made < 0) refuse(errno);
    // Signals are for the threads of the user.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      start_thread([this, made] { watch(made); });
    } catch (const std::system_error& error) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      close(made);
      refuse(error.code().value());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    epoll_ = made;
  }

  void watch(int epoll) {
    for (;;) {
      epoll_event event{};
      if (epoll_wait(epoll, &event, 1, -1) != 1) continue;
      Ready ready;
      {
        const std::lock_guard lock(mutex_);
        const auto at = watched_.find(event.data.fd);
        if (at == watched_.end()) continue;
        ready = at->second;
      }
      if ((*ready)()) continue;
      const std::lock_guard lock(mutex_);
      watched_.erase(event.data.fd);
      epoll_ctl(epoll, EPOLL_CTL_DEL, event.data.fd, nullptr);
      close(event.data.fd);
    }
  }

  std::mutex mutex_;
  std::map<int, Ready> watched_;
  int epoll_ = -1;
};

std::atomic<Watcher*> watcher_in_use{nullptr};

// Never destroyed: its thread waits until the process ends.
Watcher& watcher() {
  static Watcher* const first = [] {
    auto* made = new Watcher;
    watcher_in_use = made;
    pthread_atfork([] { watcher_in_use.load()->lock(); }, [] { watcher_in_use.load()->unlock(); },
                   [] {
                     Watcher* const parents = watcher_in_use;
                     parents->unlock();
                     parents->close_all();
                     watcher_in_use = new Watcher;
                   });
    return made;
  }();
  (void)first;
  return *watcher_in_use;
}

}  // namespace

void watch_descriptor(int descriptor, std::function<bool()> ready) {
  watcher().add(descriptor, std::move(ready));
}

}  // namespace hr
