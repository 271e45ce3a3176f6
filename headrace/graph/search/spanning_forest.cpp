// SPDX-License-Identifier: Apache-2.0
// Rounds of lightest edges; edges within a component drop out.
#include "headrace/graph/search/spanning_forest.h"

#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/structure/edge_ends.h"
#include "headrace/graph/structure/entry_weights.h"

#include <atomic>
#include <limits>
#include <utility>

namespace hr {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

struct Edge {
  double weight;
  uint32_t number;
  uint32_t from;  // components: their first vertices
  uint32_t to;

  bool operator<(const Edge& other) const {
    return weight != other.weight ? weight < other.weight : number < other.number;
  }
};

class Forest {
 public:
  Forest(const Graph& graph, const double* weights, bool maximum)
      : vertices_(graph.num_vertices()),
        sets_(vertices_),
        lightest_(static_cast<size_t>(vertices_)),
        is_taken_(static_cast<size_t>(graph.num_edges())) {
    const EdgeEnds ends = edge_ends("minimum_spanning_edges", graph);
    edges_.resize(ends.size());
    parallel_morsels(static_cast<int64_t>(ends.size()), [&](Morsel morsel) {
      for (auto i = static_cast<size_t>(morsel.begin); i < static_cast<size_t>(morsel.end); ++i) {
        const double weight = weights ? weights[i] : 0;
        edges_[i] = {maximum ? -weight : weight, static_cast<uint32_t>(i), ends[i][0], ends[i][1]};
      }
    });
  }

  Column run() {
    keep([](Edge& edge) { return edge.from != edge.to; });
    while (!edges_.empty()) {
      look_for_interrupt();
      find_lightest();
      take();
      keep([&](Edge& edge) {
        edge.from = sets_.root(edge.from);
        edge.to = sets_.root(edge.to);
        return edge.from != edge.to;
      });
    }
    return wanted_edges(is_taken_);
  }

 private:
  template <class F>
  void each_edge(F&& f) {
    parallel_morsels(static_cast<int64_t>(edges_.size()), [&](Morsel morsel) {
      for (auto i = static_cast<size_t>(morsel.begin); i < static_cast<size_t>(morsel.end); ++i)
        f(static_cast<uint32_t>(i), edges_[i]);
    });
  }

  void find_lightest() {
    parallel_morsels(vertices_, [&](Morsel morsel) {
      std::fill(lightest_.begin() + morsel.begin, lightest_.begin() + morsel.end, kNone);
    });
    each_edge([&](uint32_t i, const Edge& edge) {
      for (const uint32_t component : {edge.from, edge.to}) {
        const std::atomic_ref place(lightest_[component]);
        uint32_t known = place.load(std::memory_order_relaxed);
        while ((known == kNone || edge < edges_[known]) &&
               !place.compare_exchange_weak(known, i, std::memory_order_relaxed)) {
        }
      }
    });
  }

  void take() {
    parallel_morsels(vertices_, [&](Morsel morsel) {
      for (auto c = static_cast<size_t>(morsel.begin); c < static_cast<size_t>(morsel.end); ++c) {
        if (lightest_[c] == kNone) continue;
        const Edge& edge = edges_[lightest_[c]];
        std::atomic_ref(is_taken_[edge.number]).store(1, std::memory_order_relaxed);
        sets_.join(edge.from, edge.to);
      }
    });
  }

  // Those for which `stays` holds, which may change them, in their order.
  template <class F>
  void keep(F&& stays) {
    const auto count = static_cast<int64_t>(edges_.size());
    const auto each = [&](Morsel morsel, auto&& f) {
      for (auto i = static_cast<size_t>(morsel.begin); i < static_cast<size_t>(morsel.end); ++i)
        f(edges_[i]);
    };
    const std::vector<int64_t> places = compact_offsets(count, {}, [&](Morsel morsel) {
      int64_t kept = 0;
      each(morsel, [&](Edge& edge) { kept += stays(edge); });
      return kept;
    });
    BudgetedVector<Edge> made(static_cast<size_t>(places.back()));
    parallel_morsels(count, [&](Morsel morsel) {
      auto at = static_cast<size_t>(places[static_cast<size_t>(morsel.index)]);
      each(morsel, [&](const Edge& edge) {
        if (edge.from != edge.to) made[at++] = edge;
      });
    });
    edges_ = std::move(made);
  }

  int64_t vertices_;
  DisjointSets<uint32_t> sets_;
  BudgetedVector<Edge> edges_{};       // between components
  BudgetedVector<uint32_t> lightest_;  // places in edges_, of components
  BudgetedVector<uint8_t> is_taken_;   // of all edges
};

}  // namespace

Column spanning_forest(const Graph& graph, const std::optional<Column>& weights, bool maximum) {
  const char* const op = maximum ? "maximum_spanning_edges" : "minimum_spanning_edges";
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(op, "the graph is directed", {}, "use graph.to_undirected()");
  if (weights) check_weights(op, *weights, WeightRule::kAny);
  return Forest(graph, weights ? weights->values<double>().data() : nullptr, maximum).run();
}

}  // namespace hr
