// SPDX-License-Identifier: Apache-2.0
// Strongly connected components: trimmed, searched forth and back, the rest by Tarjan's search.
#include "headrace/graph/search/strong_components.h"

#include "headrace/exec/interrupt.h"
#include "headrace/graph/search/topological.h"
#include "headrace/graph/structure/weighted_rows.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace hr {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr int64_t kStep = 1 << 10;  // vertices of a frontier that one task expands
constexpr int64_t kDense = 20;  // look at all vertices when more than 1 of 20 is in the frontier

using Vertices = BudgetedVector<uint32_t>;
using Marks = BudgetedVector<uint8_t>;

class Components {
 public:
  explicit Components(const Graph& graph)
      : out_(graph.out()), in_(graph.in()), groups_(static_cast<size_t>(out_.vertices), kNone) {}

  // A vertex of each component stands for it.
  Vertices run() {
    trim();
    take_hub();
    search_rest();
    return std::move(groups_);
  }

 private:
  bool is_open(int64_t v) const { return groups_[static_cast<size_t>(v)] == kNone; }

  void trim() {
    const BudgetedVector<int32_t> from = generations(out_, in_), to = generations(in_, out_);
    parallel_morsels(out_.vertices, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v)
        if (const auto at = static_cast<size_t>(v); from[at] >= 0 || to[at] >= 0)
          groups_[at] = static_cast<uint32_t>(v);
    });
  }

  // The component of the vertex with the most ways through it.
  void take_hub() {
    const CsrRows out(out_), in(in_);
    std::vector<std::pair<double, int64_t>> best(static_cast<size_t>(num_morsels(out_.vertices)),
                                                 {0, -1});
    parallel_morsels(out_.vertices, [&](Morsel morsel) {
      auto& own = best[static_cast<size_t>(morsel.index)];
      for (int64_t v = morsel.begin; v < morsel.end; ++v) {
        const double ways = static_cast<double>(out.degree(v)) * static_cast<double>(in.degree(v));
        if (is_open(v) && ways > own.first) own = {ways, v};
      }
    });
    const int64_t hub =
        std::ranges::max_element(best, {}, [](const auto& each) { return each.first; })->second;
    if (hub < 0) return;
    const Marks forth = reached(out_, in_, static_cast<uint32_t>(hub));
    const Marks back = reached(in_, out_, static_cast<uint32_t>(hub));
    parallel_morsels(out_.vertices, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v)
        if (const auto at = static_cast<size_t>(v); forth[at] && back[at])
          groups_[at] = static_cast<uint32_t>(hub);
    });
  }

  // The open vertices that paths along `rows` lead to. `reverse`: the same entries the other way
  // round, for looking from those that are not reached yet.
  Marks reached(const Csr& rows, const Csr& reverse, uint32_t source) const {
    Marks marks(groups_.size());
    marks[source] = 1;
    Vertices frontier{source};
    while (!frontier.empty()) {
      look_for_interrupt();
      frontier = static_cast<int64_t>(frontier.size()) > rows.vertices / kDense
                     ? pull(reverse, marks)
                     : push(CsrRows(rows), frontier, marks);
    }
    return marks;
  }

  Vertices push(const CsrRows& rows, const Vertices& frontier, Marks& marks) const {
    const auto count = static_cast<int64_t>(frontier.size());
    std::vector<Vertices> found(static_cast<size_t>((count + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(found.size()), [&](int64_t task) {
      const Morsel morsel = morsel_at(task, count, kStep);
      for (int64_t i = morsel.begin; i < morsel.end; ++i)
        for (const uint32_t w : rows[frontier[static_cast<size_t>(i)]]) {
          const std::atomic_ref mark(marks[w]);
          if (!is_open(w) || mark.load(std::memory_order_relaxed) ||
              mark.exchange(1, std::memory_order_relaxed))
            continue;
          found[static_cast<size_t>(task)].push_back(w);
        }
    });
    return joined(found);
  }

  // Marks set meanwhile count too: that only ends it sooner.
  Vertices pull(const Csr& reverse, Marks& marks) const {
    const CsrRows rows(reverse);
    std::vector<Vertices> found(static_cast<size_t>(num_pieces(reverse)));
    parallel_rows(reverse, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        const std::atomic_ref mark(marks[static_cast<size_t>(v)]);
        if (!is_open(v) || mark.load(std::memory_order_relaxed)) continue;
        for (const uint32_t w : rows[v]) {
          if (!std::atomic_ref(marks[w]).load(std::memory_order_relaxed)) continue;
          mark.store(1, std::memory_order_relaxed);
          found[static_cast<size_t>(piece.index)].push_back(static_cast<uint32_t>(v));
          break;
        }
      }
    });
    return joined(found);
  }

  static Vertices joined(const std::vector<Vertices>& parts) {
    Vertices made;
    for (const Vertices& each : parts) made.insert(made.end(), each.begin(), each.end());
    return made;
  }

  // `lowest` has the place of each vertex in the order of the search, then the earliest place that
  // it leads back to. Vertices stay on `waiting` until their component is known.
  void search_rest() {
    const CsrRows rows(out_);
    BudgetedVector<uint32_t> lowest;
    Vertices waiting;
    struct Step {
      uint32_t vertex;
      uint32_t place;
      int64_t entry;
    };
    BudgetedVector<Step> path;
    uint32_t next = 0;
    const auto enter = [&](uint32_t v) {
      lowest[v] = next;
      path.push_back({v, next++, rows.offsets[v]});
      waiting.push_back(v);
    };
    for (int64_t root = 0; root < out_.vertices; ++root) {
      if (!is_open(root)) continue;
      if (lowest.empty()) lowest.assign(groups_.size(), kNone);
      look_for_interrupt();
      enter(static_cast<uint32_t>(root));
      while (!path.empty()) {
        Step& step = path.back();
        const uint32_t v = step.vertex;
        if (step.entry < rows.offsets[v + 1]) {
          const uint32_t w = rows.targets[step.entry++];
          if (!is_open(w)) continue;
          if (lowest[w] == kNone)
            enter(w);
          else
            lowest[v] = std::min(lowest[v], lowest[w]);
          continue;
        }
        if (lowest[v] == step.place) {
          uint32_t member = kNone;
          do {
            member = waiting.back();
            waiting.pop_back();
            groups_[member] = v;
          } while (member != v);
        }
        path.pop_back();
        if (!path.empty() && is_open(v))
          lowest[path.back().vertex] = std::min(lowest[path.back().vertex], lowest[v]);
      }
    }
  }

  const Csr& out_;
  Csr in_;
  Vertices groups_;  // of each vertex, one of its component; kNone: open
};

}  // namespace

Column strong_components(const Graph& graph) {
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate(8 * vertices);
  if (vertices > 0) {
    Vertices groups = Components(graph).run();
    number_groups(groups, groups.size());
    std::copy(groups.begin(), groups.end(), made.mutable_as<int64_t>());
  }
  return Column(TypeId::kInt64, vertices, std::move(made));
}

NodePtr strong_component_table(const Graph& graph) {
  return vertex_table(graph, "strongly_connected_components", {}, {{"component", TypeId::kInt64}},
                      {}, [graph](const std::vector<bool>&, std::span<const Value>) {
                        return std::vector{strong_components(graph)};
                      });
}

}  // namespace hr
