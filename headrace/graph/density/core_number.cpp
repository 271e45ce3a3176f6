// SPDX-License-Identifier: Apache-2.0
// Core numbers by peeling.
#include "headrace/graph/density/core_number.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/density/core_number_kernels.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <array>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 10;  // vertices that one task takes away
// Entries of those to be taken away, up to which one thread is the fastest: most rounds are small.
constexpr int64_t kFewEntries = 1 << 17;
constexpr size_t kOwners = 16;

using Vertices = BudgetedVector<uint32_t>;

void append(const std::vector<Vertices>& parts, Vertices& all) {
  for (const Vertices& each : parts) all.insert(all.end(), each.begin(), each.end());
}

class Peeling {
 public:
  Peeling(const Graph& graph, int64_t* cores) : cores_(cores) {
    forms_.push_back(graph.out());
    if (graph.is_directed()) forms_.push_back(graph.in());
    for (const Csr& form : forms_) rows_.emplace_back(form);
    vertices_ = graph.num_vertices();
    left_.resize(static_cast<size_t>(vertices_));
    degrees_.resize(left_.size());
    parallel_morsels(vertices_, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v) {
        const auto at = static_cast<size_t>(v);
        left_[at] = static_cast<uint32_t>(v);
        degrees_[at] = static_cast<uint32_t>(degree(v));
      }
    });
  }

  void run() {
    for (int64_t core = -1; !left_.empty();) {
      look_for_interrupt();
      core = least_above(core);
      split(core);
      while (!taken_.empty()) take_away(static_cast<uint32_t>(core));
    }
    parallel_morsels(vertices_, [&](Morsel morsel) {
      std::copy(degrees_.begin() + morsel.begin, degrees_.begin() + morsel.end,
                cores_ + morsel.begin);
    });
  }

 private:
  int64_t degree(int64_t v) const {
    int64_t all = 0;
    for (const CsrRows& rows : rows_) all += rows.degree(v);
    return all;
  }

  // The least degree of those left; up to `core` are those taken away.
  int64_t least_above(int64_t core) const {
    const auto rows = static_cast<int64_t>(left_.size());
    std::vector<int64_t> least(static_cast<size_t>(num_morsels(rows)));
    parallel_morsels(rows, [&](Morsel morsel) {
      int64_t own = std::numeric_limits<int64_t>::max();
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const int64_t known = degrees_[left_[static_cast<size_t>(i)]];
        if (known > core) own = std::min(own, known);
      }
      least[static_cast<size_t>(morsel.index)] = own;
    });
    return *std::ranges::min_element(least);
  }

  // Moves the vertices of degree `core` out of those that are left; those taken away go too.
  void split(int64_t core) {
    const auto rows = static_cast<int64_t>(left_.size());
    std::vector<Vertices> taken(static_cast<size_t>(num_morsels(rows))), kept(taken.size());
    parallel_morsels(rows, [&](Morsel morsel) {
      const auto at = static_cast<size_t>(morsel.index);
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const uint32_t v = left_[static_cast<size_t>(i)];
        if (degrees_[v] == core) taken[at].push_back(v);
        if (degrees_[v] > core) kept[at].push_back(v);
      }
    });
    left_.clear();
    append(kept, left_);
    append(taken, taken_);
  }

  // Each neighbour of more than `core` loses an edge; who comes down to `core` is taken next.
  void take_away(uint32_t core) {
    int64_t entries = 0;
    for (const uint32_t v : taken_) entries += degree(v);
    Vertices next;
    if (entries <= kFewEntries || threads() == 1) {
      visit_neighbours({0, 0, static_cast<int64_t>(taken_.size())}, core,
                       [&](uint32_t target) { take_edge(target, core, next); });
      std::swap(taken_, next);
      return;
    }
    // Hubs lose edges to many at once: tasks list who loses one, then each vertex has one owner.
    const auto rows = static_cast<int64_t>(taken_.size());
    std::vector<std::array<Vertices, kOwners>> lists(
        static_cast<size_t>((rows + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(lists.size()), [&](int64_t task) {
      auto& own = lists[static_cast<size_t>(task)];
      visit_neighbours(morsel_at(task, rows, kStep), core,
                       [&](uint32_t target) { own[target / 16 % kOwners].push_back(target); });
    });
    std::vector<Vertices> found(kOwners);
    parallel_for(kOwners, [&](int64_t owner) {
      const auto at = static_cast<size_t>(owner);
      for (const auto& list : lists)
        for (const uint32_t target : list[at]) take_edge(target, core, found[at]);
    });
    taken_.clear();
    append(found, taken_);
  }

  // Calls `visit` for the neighbours of more than `core` of some that are taken away.
  template <class F>
  void visit_neighbours(Morsel taken, uint32_t core, F&& visit) const {
    for (int64_t i = taken.begin; i < taken.end; ++i)
      for (const CsrRows& rows : rows_)
        for (const uint32_t target : rows[taken_[static_cast<size_t>(i)]])
          if (degrees_[target] > core) visit(target);
  }

  void take_edge(uint32_t v, uint32_t core, Vertices& next) {
    if (degrees_[v] > core && --degrees_[v] == core) next.push_back(v);
  }

  std::vector<Csr> forms_{};
  std::vector<CsrRows> rows_{};
  int64_t vertices_ = 0;
  int64_t* cores_;
  Vertices degrees_{};  // those of vertices taken away are their cores
  Vertices left_{};     // those of more than the last core, and some taken away since
  Vertices taken_{};    // to be taken away now
};

}  // namespace

Column core_number(const Graph& graph) {
  if (graph.num_self_loops() > 0)
    throw_error<InvalidArgumentError>("core_number", "the graph has self loops",
                                      {{"self_loops", graph.num_self_loops()}},
                                      "leave them out: graph.edge_subgraph(mask)");
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::core_number(graph);
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate(8 * vertices);
  if (vertices > 0) Peeling(graph, made.mutable_as<int64_t>()).run();
  return Column(TypeId::kInt64, vertices, std::move(made));
}

NodePtr core_number_table(const Graph& graph) {
  return vertex_table(
      graph, "core_number", {}, {{"core", TypeId::kInt64}}, {},
      [graph](const std::vector<bool>&, std::span<const Value>) {
        return std::vector{core_number(graph)};
      },
      Kernels::kHostAndCuda);
}

}  // namespace hr
