// SPDX-License-Identifier: Apache-2.0
// What a process makes once for each device of a kind.
#pragma once
#include "headrace/memory/sync/fork_mutex.h"

#include <map>
#include <mutex>
#include <utility>

namespace hr {

/// Values by the number of their device, each made when it is first asked for. Any thread may ask.
template <class T>
class ByDevice {
 public:
  /// `make()`: the value, made without the lock; of two that are made at the same time one is kept.
  /// Where it throws, the next call tries again.
  template <class F>
  T get(int device, F&& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = made_.find(device); found != made_.end()) return found->second;
    }
    T value = make();
    const std::lock_guard lock(mutex_);
    return made_.try_emplace(device, std::move(value)).first->second;
  }

 private:
  ForkMutex mutex_{};
  std::map<int, T> made_{};
};

}  // namespace hr
