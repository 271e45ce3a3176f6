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
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 10;  // vertices that one task takes away
// Entries of those to be taken away, up to which one thread is the fastest: most rounds are small.
constexpr int64_t kFewEntries = 1 << 17;
constexpr size_t kOwners = 16;
constexpr uint32_t kWindow = 64;  // degrees whose vertices are listed, so that few scans find them

using Vertices = BudgetedVector<uint32_t>;

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

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
    while (open_window()) {
      look_for_interrupt();
      for (Vertices& listed : window_) {
        std::swap(taken_, listed);
        listed.clear();
        std::erase_if(taken_, [&](uint32_t v) { return degrees_[v] != core_; });
        while (!taken_.empty()) take_away();
        ++core_;
      }
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

  // Begins at the least degree of those left, and lists those of the degrees from there on; whether
  // any are left. Degrees below `core_` are those of vertices taken away.
  bool open_window() {
    const auto rows = static_cast<int64_t>(left_.size());
    std::vector<Vertices> kept(static_cast<size_t>(num_morsels(rows)));
    std::vector<uint32_t> least(kept.size(), kNone);
    parallel_morsels(rows, [&](Morsel morsel) {
      const auto at = static_cast<size_t>(morsel.index);
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const uint32_t v = left_[static_cast<size_t>(i)];
        if (degrees_[v] < core_) continue;
        kept[at].push_back(v);
        least[at] = std::min(least[at], degrees_[v]);
      }
    });
    if (rows > 0) begin_ = *std::ranges::min_element(least);
    if (rows == 0 || begin_ == kNone) return false;
    core_ = begin_;
    end_ = begin_ + std::min(kWindow, kNone - begin_);
    left_.clear();
    for (const Vertices& each : kept)
      for (const uint32_t v : each) {
        if (degrees_[v] < end_)
          window_[degrees_[v] - core_].push_back(v);
        else
          left_.push_back(v);
      }
    return true;
  }

  // Each neighbour of more than the core loses an edge; who comes down to it is taken next.
  void take_away() {
    int64_t entries = 0;
    for (const uint32_t v : taken_) entries += degree(v);
    Vertices next;
    if (entries <= kFewEntries || threads() == 1) {
      visit_neighbours({0, 0, static_cast<int64_t>(taken_.size())}, [&](uint32_t target) {
        take_edge(target, [&](uint32_t v, uint32_t left) { list(v, left, next); });
      });
      std::swap(taken_, next);
      return;
    }
    // Hubs lose edges to many at once: tasks list who loses one, then each vertex has one owner.
    const auto rows = static_cast<int64_t>(taken_.size());
    std::vector<std::array<Vertices, kOwners>> lists(
        static_cast<size_t>((rows + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(lists.size()), [&](int64_t task) {
      auto& own = lists[static_cast<size_t>(task)];
      visit_neighbours(morsel_at(task, rows, kStep),
                       [&](uint32_t target) { own[target / 16 % kOwners].push_back(target); });
    });
    std::vector<BudgetedVector<std::pair<uint32_t, uint32_t>>> found(kOwners);
    parallel_for(kOwners, [&](int64_t owner) {
      const auto at = static_cast<size_t>(owner);
      for (const auto& each : lists)
        for (const uint32_t target : each[at])
          take_edge(target, [&](uint32_t v, uint32_t left) { found[at].emplace_back(v, left); });
    });
    for (const auto& each : found)
      for (const auto& [v, left] : each) list(v, left, next);
    std::swap(taken_, next);
  }

  // A vertex that has come down to `left` edges.
  void list(uint32_t v, uint32_t left, Vertices& next) {
    if (left == core_)
      next.push_back(v);
    else
      window_[left - begin_].push_back(v);
  }

  // Calls `visit` for the neighbours of more than the core of some that are taken away.
  template <class F>
  void visit_neighbours(Morsel taken, F&& visit) const {
    for (int64_t i = taken.begin; i < taken.end; ++i)
      for (const CsrRows& rows : rows_)
        for (const uint32_t target : rows[taken_[static_cast<size_t>(i)]])
          if (degrees_[target] > core_) visit(target);
  }

  // Calls `listed(v, degree)` where the window has the degree that is left.
  template <class F>
  void take_edge(uint32_t v, F&& listed) {
    if (degrees_[v] > core_ && --degrees_[v] < end_) listed(v, degrees_[v]);
  }

  std::vector<Csr> forms_{};
  std::vector<CsrRows> rows_{};
  int64_t vertices_ = 0;
  int64_t* cores_;
  Vertices degrees_{};  // those of vertices taken away are their cores
  Vertices left_{};     // those beyond the window when it was opened
  Vertices taken_{};    // to be taken away now
  uint32_t core_ = 0;
  uint32_t begin_ = 0, end_ = 0;            // of the window
  std::array<Vertices, kWindow> window_{};  // vertices of each degree, and some that have less now
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
