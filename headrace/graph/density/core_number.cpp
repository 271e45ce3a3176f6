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
#include <vector>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 10;  // vertices that one task takes away
// Entries of those to be taken away, up to which one thread is the fastest: most rounds are small.
constexpr int64_t kFewEntries = 1 << 20;
constexpr size_t kOwners = 16;

using Vertices = BudgetedVector<uint32_t>;

class Peeling {
 public:
  Peeling(const Graph& graph, int64_t* cores) : cores_(cores) {
    forms_.push_back(graph.out());
    if (graph.is_directed()) forms_.push_back(graph.in());
    for (const Csr& form : forms_) rows_.emplace_back(form);
    vertices_ = graph.num_vertices();
    left_.resize(static_cast<size_t>(vertices_));
    degrees_.resize(left_.size());
    // One more than there are vertices: what is written behind the last one does not count.
    taken_.resize(left_.size() + 1);
    parallel_morsels(vertices_, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v) {
        const auto at = static_cast<size_t>(v);
        left_[at] = static_cast<uint32_t>(v);
        degrees_[at] = static_cast<uint32_t>(degree(v));
      }
    });
  }

  void run() {
    while (find_core()) {
      look_for_interrupt();
      while (done_ < end_) take_away();
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

  // The least degree of those left, which are then to be taken away; whether any are left. Each
  // vertex is read once for each core up to its own at most: no more often than it has entries.
  bool find_core() {
    uint32_t least = std::numeric_limits<uint32_t>::max();
    size_t kept = 0;
    for (const uint32_t v : left_) {
      const uint32_t degree = degrees_[v];
      left_[kept] = v;
      // Those of the core and below are taken away.
      const bool is_left = !has_core_ || degree > core_;
      kept += is_left;
      least = is_left ? std::min(least, degree) : least;
    }
    left_.resize(kept);
    if (left_.empty()) return false;
    core_ = least;
    has_core_ = true;
    for (const uint32_t v : left_) {
      taken_[end_] = v;
      end_ += degrees_[v] == core_;
    }
    return true;
  }

  // Each neighbour of more than the core loses an edge; who comes down to it is taken, too.
  void take_away() {
    const size_t begin = done_, end = end_;
    int64_t entries = 0;
    for (size_t i = begin; i < end; ++i) entries += degree(taken_[i]);
    done_ = end;
    if (entries > kFewEntries && threads() > 1) return take_away_by_all(begin, end);
    for (size_t i = begin; i < end; ++i)
      for (const CsrRows& rows : rows_)
        for (const uint32_t target : rows[taken_[i]]) {
          // Without branches: whether a neighbour is left is as good as random.
          const uint32_t degree = degrees_[target];
          degrees_[target] = degree - (degree > core_);
          taken_[end_] = target;
          end_ += degree == core_ + 1;
        }
  }

  // Hubs lose edges to many at once: tasks list who loses one, then each vertex has one owner.
  void take_away_by_all(size_t begin, size_t end) {
    const auto rows = static_cast<int64_t>(end - begin);
    std::vector<std::array<Vertices, kOwners>> lists(
        static_cast<size_t>((rows + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(lists.size()), [&](int64_t task) {
      auto& own = lists[static_cast<size_t>(task)];
      const Morsel part = morsel_at(task, rows, kStep);
      for (int64_t i = part.begin; i < part.end; ++i)
        for (const CsrRows& of : rows_)
          for (const uint32_t target : of[taken_[begin + static_cast<size_t>(i)]])
            if (degrees_[target] > core_) own[target / 16 % kOwners].push_back(target);
    });
    std::vector<Vertices> found(kOwners);
    parallel_for(kOwners, [&](int64_t owner) {
      const auto at = static_cast<size_t>(owner);
      for (const auto& each : lists)
        for (const uint32_t target : each[at])
          if (degrees_[target] > core_ && --degrees_[target] == core_) found[at].push_back(target);
    });
    for (const Vertices& each : found)
      for (const uint32_t v : each) taken_[end_++] = v;
  }

  std::vector<Csr> forms_{};
  std::vector<CsrRows> rows_{};
  int64_t vertices_ = 0;
  int64_t* cores_;
  Vertices degrees_{};  // those of vertices taken away are their cores
  Vertices left_{};     // and some that were taken away since the last look
  Vertices taken_{};    // in their order; from `done_` on their neighbours still have the edges
  size_t done_ = 0, end_ = 0;
  uint32_t core_ = 0;
  bool has_core_ = false;
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
