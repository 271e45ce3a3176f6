// SPDX-License-Identifier: Apache-2.0
// Core numbers by peeling.
#include "headrace/graph/core_number.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 10;  // vertices that one task takes away

using Vertices = BudgetedVector<uint32_t>;

void append(const std::vector<Vertices>& parts, Vertices& all) {
  for (const Vertices& each : parts) all.insert(all.end(), each.begin(), each.end());
}

class Peeling {
 public:
  Peeling(const Graph& graph, int64_t* degrees) : degrees_(degrees) {
    forms_.push_back(graph.out());
    if (graph.is_directed()) forms_.push_back(graph.in());
    const int64_t vertices = graph.num_vertices();
    left_.resize(static_cast<size_t>(vertices));
    parallel_morsels(vertices, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v) {
        left_[static_cast<size_t>(v)] = static_cast<uint32_t>(v);
        degrees_[v] = 0;
        for (const Csr& form : forms_) degrees_[v] += form.degree(v);
      }
    });
  }

  void run() {
    for (int64_t core = -1; !left_.empty();) {
      look_for_interrupt();
      core = least_above(core);
      split(core);
      while (!taken_.empty()) take_away(core);
    }
  }

 private:
  // The least degree of those left; up to `core` are those taken away.
  int64_t least_above(int64_t core) const {
    const auto rows = static_cast<int64_t>(left_.size());
    std::vector<int64_t> least(static_cast<size_t>(num_morsels(rows)));
    parallel_morsels(rows, [&](Morsel morsel) {
      int64_t own = std::numeric_limits<int64_t>::max();
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const int64_t degree = degrees_[left_[static_cast<size_t>(i)]];
        if (degree > core) own = std::min(own, degree);
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

  // Each neighbour of more than `core` loses an edge; who brings it down to `core` takes it next.
  void take_away(int64_t core) {
    const auto rows = static_cast<int64_t>(taken_.size());
    std::vector<Vertices> next(static_cast<size_t>((rows + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(next.size()), [&](int64_t task) {
      Vertices& own = next[static_cast<size_t>(task)];
      const Morsel morsel = morsel_at(task, rows, kStep);
      for (int64_t i = morsel.begin; i < morsel.end; ++i)
        for (const Csr& form : forms_)
          for (const uint32_t target : form.row(taken_[static_cast<size_t>(i)])) {
            const std::atomic_ref degree(degrees_[target]);
            int64_t known = degree.load(std::memory_order_relaxed);
            while (known > core &&
                   !degree.compare_exchange_weak(known, known - 1, std::memory_order_relaxed)) {
            }
            if (known == core + 1) own.push_back(target);
          }
    });
    taken_.clear();
    append(next, taken_);
  }

  std::vector<Csr> forms_{};
  int64_t* degrees_;
  Vertices left_{};   // those of more than the last core, and some taken away since
  Vertices taken_{};  // to be taken away now
};

}  // namespace

Column core_number(const Graph& graph) {
  if (graph.num_self_loops() > 0)
    throw_error<InvalidArgumentError>("core_number", "the graph has self loops",
                                      {{"self_loops", graph.num_self_loops()}},
                                      "leave them out: graph.edge_subgraph(mask)");
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate(8 * vertices);
  if (vertices > 0) Peeling(graph, made.mutable_as<int64_t>()).run();
  return Column(TypeId::kInt64, vertices, std::move(made));
}

NodePtr core_number_table(const Graph& graph) {
  return vertex_table(graph, "core_number", {}, {{"core", TypeId::kInt64}}, {},
                      [graph](const std::vector<bool>&, std::span<const Value>) {
                        return std::vector{core_number(graph)};
                      });
}

}  // namespace hr
