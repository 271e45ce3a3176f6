// SPDX-License-Identifier: Apache-2.0
// Two places for the steps of a plan, chosen so that all of them together cost least.
#pragma once
#include "headrace/base/api.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hr {

/// Steps run here or there, at a cost each, and values that a step on the other side reads are
/// moved, at a cost too. The least sum is the least cut of a network (H. S. Stone, "Multiprocessor
/// scheduling with the aid of network flow algorithms", IEEE TSE 3, 1977), found by E. A. Dinic's
/// algorithm (1970).
class HR_API LeastCut {
 public:
  /// The cost of what cannot be.
  static constexpr int64_t kNever = int64_t{1} << 50;

  explicit LeastCut(size_t steps) : edges_of_(steps + 2), steps_(steps) {}

  /// Adds to what a step costs on each side.
  void add_cost(size_t step, int64_t here, int64_t there);

  /// `step` makes a value that `readers` read, and the caller here if `wanted_here`. A side that
  /// does not have it gets one copy, however many of its steps read it.
  void add_value(size_t step, std::span<const size_t> readers, bool wanted_here, int64_t cost);

  /// For each step whether it runs there. Of equal sums the one with the fewest steps there.
  std::vector<bool> solve();

 private:
  struct Edge {
    size_t to;
    int64_t capacity;
  };

  size_t here() const { return steps_; }
  size_t there() const { return steps_ + 1; }

  size_t new_vertex();
  // The edge of number e and its reverse, e ^ 1, are neighbours.
  void add_edge(size_t from, size_t to, int64_t capacity);
  bool find_levels();
  int64_t push(size_t vertex, int64_t flow);

  std::vector<std::vector<size_t>> edges_of_;  // by vertex
  std::vector<Edge> edges_{};
  std::vector<int64_t> level_{};
  std::vector<size_t> next_{};
  size_t steps_;
};

}  // namespace hr
