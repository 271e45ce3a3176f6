// SPDX-License-Identifier: Apache-2.0
// Locks that a fork must not catch in the hands of another thread.
#include "headrace/base/process_global.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <pthread.h>
#include <vector>

namespace hr {

namespace {

std::atomic<uint64_t> forks{0};

struct ForkLocks {
  std::mutex mutex;
  std::vector<std::mutex*> mutexes;  // in the order in which a fork takes them
  std::ptrdiff_t innermost = 0;      // how many at the end are taken while others are held
};

ForkLocks& fork_locks() {
  return process_global([] {
    pthread_atfork(
        [] {
          fork_locks().mutex.lock();
          for (std::mutex* each : fork_locks().mutexes) each->lock();
          ++forks;
        },
        [] {
          for (std::mutex* each : fork_locks().mutexes) each->unlock();
          fork_locks().mutex.unlock();
        },
        [] {
          for (std::mutex* each : fork_locks().mutexes) each->unlock();
          fork_locks().mutex.unlock();
        });
    return ForkLocks{};
  });
}

}  // namespace

void lock_over_fork(std::mutex& mutex, bool innermost) {
  ForkLocks& locks = fork_locks();
  const std::lock_guard lock(locks.mutex);
  // A later one stands in front: while it is held, those that were there before may be taken.
  locks.mutexes.insert(locks.mutexes.end() - locks.innermost, &mutex);
  if (innermost) ++locks.innermost;
}

void forget_over_fork(std::mutex& mutex) {
  ForkLocks& locks = fork_locks();
  const std::lock_guard lock(locks.mutex);
  const auto found = std::find(locks.mutexes.begin(), locks.mutexes.end(), &mutex);
  if (found == locks.mutexes.end()) return;
  if (locks.mutexes.end() - found <= locks.innermost) --locks.innermost;
  locks.mutexes.erase(found);
}

uint64_t fork_count() {
  return forks;
}

ForkMutex::ForkMutex() {
  lock_over_fork(*this);
}

ForkMutex::~ForkMutex() {
  forget_over_fork(*this);
}

}  // namespace hr
