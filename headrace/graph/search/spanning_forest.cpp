// SPDX-License-Identifier: Apache-2.0
// Rounds of lightest edges; edges within a component drop out. Weight and number of an edge are one
// key.
#include "headrace/graph/search/spanning_forest.h"

#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/structure/edge_ends.h"
#include "headrace/graph/structure/entry_weights.h"

#include <atomic>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace hr {

namespace {

using Codes = BudgetedVector<uint32_t>;

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

/// A float in an unsigned order.
uint32_t code_of(float weight) {
  const auto bits = std::bit_cast<uint32_t>(weight);
  return bits >> 31 != 0 ? ~bits : bits | 1u << 31;
}

/// Weights as integers of the same order, the negative ones first. Floats tell most weights apart;
/// of others their places in order do.
Codes codes_of(const Column& column, bool maximum) {
  const std::span<const double> weights = column.values<double>();
  const auto rows = static_cast<int64_t>(weights.size());
  Codes made(weights.size());
  std::atomic<bool> fit = true;
  parallel_morsels(rows, [&](Morsel morsel) {
    bool all = true;
    for (auto i = static_cast<size_t>(morsel.begin); i < static_cast<size_t>(morsel.end); ++i) {
      const auto narrow = static_cast<float>(weights[i]);
      all = all && static_cast<double>(narrow) == weights[i];
      made[i] = code_of((maximum ? -narrow : narrow) + 0.0f);
    }
    if (!all) fit.store(false, std::memory_order_relaxed);
  });
  if (fit) return made;
  const Tensor order = argsort({column}, {SortOrder{.descending = maximum}});
  const auto* const row = order.as<int64_t>();
  parallel_morsels(rows, [&](Morsel morsel) {
    for (int64_t place = morsel.begin; place < morsel.end; ++place)
      made[static_cast<size_t>(row[place])] = static_cast<uint32_t>(place);
  });
  return made;
}

struct Edge {
  uint64_t key;   // the code of the weight, then the number of the edge
  uint32_t from;  // components: their first vertices
  uint32_t to;
};

class Forest {
 public:
  Forest(const Graph& graph, const std::optional<Column>& weights, bool maximum)
      : csr_(graph.out()),
        edge_of_(csr_.edges.as<uint32_t>()),
        target_of_(csr_.targets.as<uint32_t>()),
        codes_(weights ? codes_of(*weights, maximum)
                       : Codes(static_cast<size_t>(graph.num_edges()))),
        sets_(graph.num_vertices()),
        is_taken_(codes_.size()) {}

  Column run() {
    take_of_vertices();
    collect();
    codes_ = {};
    lightest_.assign(static_cast<size_t>(csr_.vertices), kNone);
    while (!edges_.empty()) {
      look_for_interrupt();
      find_lightest();
      take();
      keep();
    }
    return wanted_edges(is_taken_);
  }

 private:
  uint64_t key_of(int64_t entry) const {
    return uint64_t{codes_[edge_of_[entry]]} << 32 | edge_of_[entry];
  }

  void take_edge(uint64_t key, uint32_t from, uint32_t to) {
    std::atomic_ref(is_taken_[static_cast<uint32_t>(key)]).store(1, std::memory_order_relaxed);
    sets_.join(from, to);
  }

  // The first round: components are vertices, whose edges are their rows.
  void take_of_vertices() {
    parallel_rows(csr_, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        uint64_t least = kNone;
        uint32_t to = 0;
        for (int64_t i = csr_.begin(v); i < csr_.begin(v + 1); ++i) {
          if (target_of_[i] == v) continue;
          if (const uint64_t key = key_of(i); key < least) {
            least = key;
            to = target_of_[i];
          }
        }
        if (least != kNone) take_edge(least, static_cast<uint32_t>(v), to);
      }
    });
  }

  // The edges between components.
  void collect() {
    const auto each = [&](Morsel piece, auto&& f) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        const uint32_t from = sets_.root(static_cast<uint32_t>(v));
        for (int64_t i = csr_.begin(v); i < csr_.begin(v + 1); ++i) {
          if (target_of_[i] <= v) continue;
          if (const uint32_t to = sets_.root(target_of_[i]); to != from) f(i, from, to);
        }
      }
    };
    std::vector<int64_t> places(static_cast<size_t>(num_pieces(csr_)) + 1);
    parallel_rows(csr_, [&](Morsel piece) {
      int64_t count = 0;
      each(piece, [&](int64_t, uint32_t, uint32_t) { ++count; });
      places[static_cast<size_t>(piece.index) + 1] = count;
    });
    std::partial_sum(places.begin(), places.end(), places.begin());
    edges_.resize(static_cast<size_t>(places.back()));
    parallel_rows(csr_, [&](Morsel piece) {
      auto at = static_cast<size_t>(places[static_cast<size_t>(piece.index)]);
      each(piece,
           [&](int64_t i, uint32_t from, uint32_t to) { edges_[at++] = {key_of(i), from, to}; });
    });
  }

  template <class F>
  void each_edge(Morsel morsel, F&& f) {
    for (auto i = static_cast<size_t>(morsel.begin); i < static_cast<size_t>(morsel.end); ++i)
      f(edges_[i]);
  }

  void find_lightest() {
    parallel_morsels(static_cast<int64_t>(edges_.size()), [&](Morsel morsel) {
      each_edge(morsel, [&](const Edge& edge) {
        for (const uint32_t component : {edge.from, edge.to}) {
          const std::atomic_ref place(lightest_[component]);
          uint64_t known = place.load(std::memory_order_relaxed);
          while (edge.key < known &&
                 !place.compare_exchange_weak(known, edge.key, std::memory_order_relaxed)) {
          }
        }
      });
    });
  }

  void take() {
    parallel_morsels(static_cast<int64_t>(edges_.size()), [&](Morsel morsel) {
      each_edge(morsel, [&](const Edge& edge) {
        if (lightest_[edge.from] == edge.key || lightest_[edge.to] == edge.key)
          take_edge(edge.key, edge.from, edge.to);
      });
    });
  }

  // Those that are still between components, in their order.
  void keep() {
    const auto count = static_cast<int64_t>(edges_.size());
    const std::vector<int64_t> places = compact_offsets(count, {}, [&](Morsel morsel) {
      int64_t kept = 0;
      each_edge(morsel, [&](Edge& edge) {
        for (uint32_t* component : {&edge.from, &edge.to}) {
          std::atomic_ref(lightest_[*component]).store(kNone, std::memory_order_relaxed);
          *component = sets_.root(*component);
        }
        kept += edge.from != edge.to;
      });
      return kept;
    });
    BudgetedVector<Edge> made(static_cast<size_t>(places.back()));
    parallel_morsels(count, [&](Morsel morsel) {
      auto at = static_cast<size_t>(places[static_cast<size_t>(morsel.index)]);
      each_edge(morsel, [&](const Edge& edge) {
        if (edge.from != edge.to) made[at++] = edge;
      });
    });
    edges_ = std::move(made);
  }

  Csr csr_;
  const uint32_t* edge_of_;
  const uint32_t* target_of_;
  Codes codes_;  // of all edges
  DisjointSets<uint32_t> sets_;
  BudgetedVector<Edge> edges_{};         // between components
  BudgetedVector<uint64_t> lightest_{};  // keys of edges, of components
  BudgetedVector<uint8_t> is_taken_;     // of all edges
};

}  // namespace

Column spanning_forest(const Graph& graph, const std::optional<Column>& weights, bool maximum) {
  const char* const op = maximum ? "maximum_spanning_edges" : "minimum_spanning_edges";
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(op, "the graph is directed", {}, "use graph.to_undirected()");
  if (weights) check_weights(op, *weights, WeightRule::kAny);
  if (graph.num_edges() == 0) return wanted_edges({});
  if (!graph.out().edges) throw_error<InternalError>(op, "the graph keeps no edges");
  return Forest(graph, weights, maximum).run();
}

}  // namespace hr
