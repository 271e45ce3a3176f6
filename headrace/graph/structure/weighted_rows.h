// SPDX-License-Identifier: Apache-2.0
// WeightedRows: a symmetric matrix of whole weights, and its vertices put together by group.
#pragma once
#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/structure/graph.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hr {

/// Entries of vertex v are offsets[v] to offsets[v + 1]; weights are whole, so that sums do not
/// depend on their order. A self loop's entry weighs twice its edge.
struct WeightedRows {
  BudgetedVector<int64_t> offsets{};
  BudgetedVector<uint32_t> targets{};
  BudgetedVector<int64_t> weights{};
  BudgetedVector<int64_t> degrees{};  ///< sums of rows
  int64_t total = 0;                  ///< of all rows
  double scale = 1;                   ///< what weights were multiplied by

  int64_t vertices() const { return static_cast<int64_t>(degrees.size()); }
};

/// Of an undirected graph; without `weights`, float64 of edges, each edge weighs 1. Those that are
/// not whole, or too many, are rounded to multiples of a power of two below 2^-60 of their sum.
/// Throws InvalidArgumentError for a directed graph, negative weights and those that are not
/// finite.
WeightedRows weighted_rows(std::string_view op, const Graph& graph,
                           const std::optional<Column>& weights);

/// Throws InvalidArgumentError for a directed graph.
void check_undirected(std::string_view op, const Graph& graph);

/// Sums up the degrees and the total of rows whose weights are there.
void add_up(WeightedRows& rows, int64_t vertices);

/// Groups numbered 0, 1, ... by their first vertex: changes `groups`, ids below `bound`, and
/// returns how many there are.
int64_t number_groups(BudgetedVector<uint32_t>& groups, size_t bound);

/// Vertices of one group, of `count` numbered ones, become one; weights between them its self loop.
WeightedRows aggregate(const WeightedRows& rows, const BudgetedVector<uint32_t>& groups,
                       int64_t count);

/// Runs `body(Morsel)` over a few hundred vertices at a time.
template <class F>
void parallel_vertices(int64_t count, F&& body) {
  parallel_morsels(count, int64_t{1} << 9, {}, std::forward<F>(body));
}

/// Weights to each group of a vertex's neighbours: a dense table of which the used places are
/// listed, lent to one task at a time.
class GroupSums {
 public:
  explicit GroupSums(int64_t groups) : sums_(static_cast<size_t>(groups), -1) {}

  void add(uint32_t group, int64_t weight) {
    int64_t& sum = sums_[group];
    if (sum < 0) {
      used_.push_back(group);
      sum = 0;
    }
    sum += weight;
  }

  int64_t of(uint32_t group) const { return std::max<int64_t>(sums_[group], 0); }

  BudgetedVector<uint32_t>& used() { return used_; }

  void clear() {
    for (const uint32_t group : used_) sums_[group] = -1;
    used_.clear();
  }

  static ScratchPool<GroupSums> pool(int64_t groups) {
    return ScratchPool<GroupSums>([groups] { return GroupSums(groups); });
  }

 private:
  BudgetedVector<int64_t> sums_;  // -1: not used
  BudgetedVector<uint32_t> used_{};
};

}  // namespace hr
