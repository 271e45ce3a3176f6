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
template <class Index = int64_t>
class DisjointSets {
 public:
  explicit DisjointSets(int64_t count) : parents_(static_cast<size_t>(count)) {
    for (int64_t i = 0; i < count; ++i)
      parents_[static_cast<size_t>(i)].store(static_cast<Index>(i), std::memory_order_relaxed);
  }

  Index root(Index i) {
    for (;;) {
      Index parent = at(i).load(std::memory_order_relaxed);
      if (parent == i) return i;
      const Index above = at(parent).load(std::memory_order_relaxed);
      // A parent is only replaced by a lower number of its set, so a lost race does no harm.
      if (above != parent) at(i).compare_exchange_weak(parent, above, std::memory_order_relaxed);
      i = above;
    }
  }

  void join(Index a, Index b) {
    for (;;) {
      a = root(a);
      b = root(b);
      if (a == b) return;
      if (a > b) std::swap(a, b);
      Index expected = b;
      if (at(b).compare_exchange_strong(expected, a, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic<Index>& at(Index i) { return parents_[static_cast<size_t>(i)]; }

  BudgetedVector<std::atomic<Index>> parents_;
};

}  // namespace hr
