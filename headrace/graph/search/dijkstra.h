// SPDX-License-Identifier: Apache-2.0
// Dijkstra: shortest paths from one vertex on one thread, for what asks many vertices at once.
#pragma once
#include "headrace/graph/structure/csr.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace hr {

/// Weights are not negative. Used again for the next vertex; 16 bytes a vertex and a heap.
class Dijkstra {
 public:
  static constexpr uint32_t kOpen = std::numeric_limits<uint32_t>::max();

  explicit Dijkstra(int64_t vertices)
      : distances_(static_cast<size_t>(vertices), std::numeric_limits<double>::infinity()),
        places_(static_cast<size_t>(vertices), kOpen) {}

  /// Calls `reached(v, w, is_shorter)` for each edge to an open vertex whose path is shorter than
  /// what was known, or as short.
  template <class Reached>
  void run(const CsrRows& rows, const double* weights, uint32_t source, Reached&& reached) {
    for (const uint32_t v : order_) {
      distances_[v] = std::numeric_limits<double>::infinity();
      places_[v] = kOpen;
    }
    order_.clear();
    distances_[source] = 0;
    heap_.assign(1, {0.0, source});
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [distance, v] = heap_.back();
      heap_.pop_back();
      if (places_[v] != kOpen) continue;
      places_[v] = static_cast<uint32_t>(order_.size());
      order_.push_back(v);
      for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) {
        const uint32_t w = rows.targets[i];
        const double length = distance + weights[i];
        if (places_[w] != kOpen || length > distances_[w]) continue;
        const bool is_shorter = length < distances_[w];
        reached(v, w, is_shorter);
        if (!is_shorter) continue;
        distances_[w] = length;
        heap_.emplace_back(length, w);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      }
    }
  }

  /// The vertices with a path, by distance, those of one distance by number.
  const BudgetedVector<uint32_t>& order() const { return order_; }

  double distance(uint32_t v) const { return distances_[v]; }

  /// The place of a vertex in `order`; kOpen: none.
  uint32_t place(uint32_t v) const { return places_[v]; }

 private:
  BudgetedVector<double> distances_;
  BudgetedVector<uint32_t> places_;
  BudgetedVector<uint32_t> order_{};
  BudgetedVector<std::pair<double, uint32_t>> heap_{};
};

}  // namespace hr
