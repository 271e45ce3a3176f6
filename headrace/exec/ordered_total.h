// SPDX-License-Identifier: Apache-2.0
// A running total over the tasks of one job, in order of their indices.
#pragma once
#include "headrace/base/api.h"

#include <atomic>
#include <cstdint>
#include <optional>

namespace hr {

/// What the tasks of one `parallel_for` have added so far, each when those with lower indices have:
/// where every task needs a scan's value half-way, and a job of its own would read all data twice.
class HR_API OrderedTotal {
 public:
  /// Of one task; made before anything in it can throw. Tasks behind one that ends without `add`
  /// get no total.
  class HR_API Turn {
   public:
    Turn(OrderedTotal& total, int64_t index) : total_(total), index_(index) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Waits for the tasks before, which all have begun, gives their total and adds `count`, once.
    /// Empty: one of them failed.
    std::optional<int64_t> add(int64_t count);

   private:
    OrderedTotal& total_;
    int64_t index_;
    bool is_over_ = false;
  };

 private:
  bool wait_for(int64_t index);
  void pass_on(int64_t next);

  std::atomic<int64_t> next_{0};  // whose turn it is; -1: none is left
  int64_t total_ = 0;
};

}  // namespace hr
