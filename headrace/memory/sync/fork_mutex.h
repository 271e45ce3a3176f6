// SPDX-License-Identifier: Apache-2.0
// Mutexes that a fork does not catch in the hands of another thread.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <mutex>

namespace hr {

/// Makes fork() wait for `mutex` and gives the child a free one. Call once a mutex, at its birth;
/// one that dies before the process must be forgotten first. `innermost`: it is taken while others
/// are held, so a fork takes it last.
void lock_over_fork(std::mutex& mutex, bool innermost = false);
void forget_over_fork(std::mutex& mutex);
/// Forks of this process and its parents since the first such mutex; rises while all are locked.
uint64_t fork_count();

/// fork() waits for it, and the child begins with a free one. Never held while another mutex is
/// taken.
class HR_API ForkMutex : public std::mutex {
 public:
  ForkMutex();
  ~ForkMutex();
};

}  // namespace hr
