// SPDX-License-Identifier: Apache-2.0
// PlanCache: tables that are dear to make, kept for the next call of the same length.
#pragma once
#include "headrace/memory/spill/spill.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <cstdint>
#include <iterator>
#include <list>
#include <memory>

namespace hr {

/// `Plan` is made from a length, has it as `n`, and tells its `table_bytes()`. Plans of at most 32
/// MiB together are kept; the one used longest ago goes first, and all of them when memory is
/// short. Thread-safe.
template <class Plan>
class PlanCache {
 public:
  /// The one cache of this type. Never destroyed: buffers must not be given back after the memory
  /// room has ended.
  static PlanCache& instance() {
    static PlanCache& cache = *new PlanCache;
    return cache;
  }

  std::shared_ptr<const Plan> get(int64_t n) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = plans_.begin(); it != plans_.end(); ++it)
        if ((*it)->n == n) {
          plans_.splice(plans_.begin(), plans_, it);
          return plans_.front();
        }
    }
    auto plan = std::make_shared<const Plan>(n);
    Plans dropped;  // freed without the lock
    const std::lock_guard lock(mutex_);
    plans_.push_front(plan);
    bytes_ += plan->table_bytes();
    while (bytes_ > kBytes) {
      bytes_ -= plans_.back()->table_bytes();
      dropped.splice(dropped.end(), plans_, std::prev(plans_.end()));
    }
    return plan;
  }

  /// Returns the bytes of the plans that no one uses any longer.
  int64_t clear() {
    Plans dropped;  // freed without the lock
    {
      const std::lock_guard lock(mutex_);
      dropped.swap(plans_);
      bytes_ = 0;
    }
    int64_t freed = 0;
    for (const auto& plan : dropped)
      if (plan.use_count() == 1) freed += plan->table_bytes();
    return freed;
  }

 private:
  PlanCache() {
    add_pressure_callback([this](int64_t) { return clear(); });
  }

  static constexpr int64_t kBytes = int64_t{32} << 20;

  using Plans = std::list<std::shared_ptr<const Plan>>;

  ForkMutex mutex_;
  Plans plans_;  // the last used first
  int64_t bytes_ = 0;
};

}  // namespace hr
