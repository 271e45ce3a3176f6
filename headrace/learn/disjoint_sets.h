// SPDX-License-Identifier: Apache-2.0
// Sets that threads join: which numbers end up together, and the root, do not depend on the order.
#pragma once
#include "headrace/memory/adaptors/allocator.h"

#include <atomic>
#include <cstdint>
#include <utility>

namespace hr {

/// Numbers 0 ... count - 1, each in a set of its own until they are joined. The root of a set is
/// its lowest number.
class DisjointSets {
 public:
  explicit DisjointSets(int64_t count) : parents_(static_cast<size_t>(count)) {
    for (int64_t i = 0; i < count; ++i) at(i).store(i, std::memory_order_relaxed);
  }

  int64_t root(int64_t i) {
    for (;;) {
      int64_t parent = at(i).load(std::memory_order_relaxed);
      if (parent == i) return i;
      const int64_t above = at(parent).load(std::memory_order_relaxed);
      // A parent is only replaced by a lower number of its set, so a lost race does no harm.
      if (above != parent) at(i).compare_exchange_weak(parent, above, std::memory_order_relaxed);
      i = above;
    }
  }

  void join(int64_t a, int64_t b) {
    for (;;) {
      a = root(a);
      b = root(b);
      if (a == b) return;
      if (a > b) std::swap(a, b);
      int64_t expected = b;
      if (at(b).compare_exchange_strong(expected, a, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic<int64_t>& at(int64_t i) { return parents_[static_cast<size_t>(i)]; }

  BudgetedVector<std::atomic<int64_t>> parents_;
};

}  // namespace hr
