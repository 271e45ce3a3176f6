// SPDX-License-Identifier: Apache-2.0
// Matchings: greedy ones, and the largest one between two sides.
#include "headrace/graph/density/matching.h"

#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/structure/edge_ends.h"

#include <limits>
#include <optional>

namespace hr {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

void check(std::string_view op, const Graph& graph) {
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(op, "the graph is directed", {}, "use graph.to_undirected()");
}

// Two copies of each vertex: an edge joins each end with the other copy of the other.
DisjointSets<uint32_t> sides_of(const Graph& graph) {
  const auto vertices = static_cast<uint32_t>(graph.num_vertices());
  if (graph.num_vertices() > std::numeric_limits<uint32_t>::max() / 2)
    throw_error<UnsupportedError>("bipartite_color", "more than 2^31 - 1 vertices",
                                  {{"vertices", graph.num_vertices()}});
  DisjointSets<uint32_t> sets(2 * graph.num_vertices());
  parallel_rows(graph.out(), [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v)
      for (const uint32_t target : graph.out().row(v))
        sets.join(static_cast<uint32_t>(v), target + vertices);
  });
  return sets;
}

class HopcroftKarp {
 public:
  HopcroftKarp(const Csr& csr, const Column& top) : csr_(csr) {
    const auto vertices = static_cast<size_t>(csr.vertices);
    mates_.assign(vertices, kNone);
    levels_.resize(vertices);
    next_.resize(vertices);
    for (const int64_t v : top.values<int64_t>()) top_.push_back(static_cast<uint32_t>(v));
  }

  const BudgetedVector<uint32_t>& run() {
    for (const uint32_t u : top_)
      for (const uint32_t v : csr_.row(u))
        if (mates_[v] == kNone) {
          match(u, v);
          break;
        }
    while (find_levels()) {
      look_for_interrupt();
      for (const uint32_t u : top_) next_[u] = csr_.begin(u);
      for (const uint32_t u : top_)
        if (mates_[u] == kNone) augment(u);
    }
    return mates_;
  }

 private:
  void match(uint32_t u, uint32_t v) {
    mates_[u] = v;
    mates_[v] = u;
  }

  // Levels of top vertices from those without a mate; whether a path ends at one without.
  bool find_levels() {
    BudgetedVector<uint32_t> queue;
    for (const uint32_t u : top_) {
      levels_[u] = mates_[u] == kNone ? 0 : kNone;
      if (mates_[u] == kNone) queue.push_back(u);
    }
    uint32_t last = kNone;  // the level at which paths end
    for (size_t i = 0; i < queue.size() && levels_[queue[i]] <= last; ++i) {
      const uint32_t u = queue[i];
      for (const uint32_t v : csr_.row(u)) {
        const uint32_t mate = mates_[v];
        if (mate == kNone) {
          last = levels_[u];
        } else if (levels_[mate] == kNone) {
          levels_[mate] = levels_[u] + 1;
          queue.push_back(mate);
        }
      }
    }
    last_ = last;
    return last != kNone;
  }

  // Follows levels from u, as deep as they go, and changes the mates along the first path found.
  void augment(uint32_t start) {
    path_.assign(1, start);
    while (!path_.empty()) {
      const uint32_t u = path_.back();
      if (next_[u] == csr_.begin(u + 1)) {
        path_.pop_back();
        if (!path_.empty()) ++next_[path_.back()];
        continue;
      }
      const uint32_t v = csr_.targets.as<uint32_t>()[next_[u]];
      const uint32_t mate = mates_[v];
      if (mate == kNone && levels_[u] == last_) {
        for (size_t i = path_.size(); i-- > 0;) {
          const uint32_t at = path_[i];
          match(at, csr_.targets.as<uint32_t>()[next_[at]]);
          levels_[at] = kNone;  // on one path only
        }
        return;
      }
      if (mate != kNone && levels_[mate] == levels_[u] + 1)
        path_.push_back(mate);
      else
        ++next_[u];
    }
  }

  const Csr& csr_;
  BudgetedVector<uint32_t> top_{};
  BudgetedVector<uint32_t> mates_{};
  BudgetedVector<uint32_t> levels_{};
  BudgetedVector<int64_t> next_{};  // entries of top vertices that are not yet tried
  BudgetedVector<uint32_t> path_{};
  uint32_t last_ = 0;
};

}  // namespace

Column greedy_matching(std::string_view op, const Graph& graph,
                       const std::optional<Column>& order) {
  check(op, graph);
  const EdgeEnds ends = edge_ends(op, graph);
  BudgetedVector<uint8_t> is_matched(static_cast<size_t>(graph.num_vertices()));
  BudgetedVector<uint8_t> is_taken(ends.size());
  const auto take = [&](size_t edge) {
    const auto [u, v] = ends[edge];
    if (u == v || is_matched[u] || is_matched[v]) return;
    is_matched[u] = is_matched[v] = is_taken[edge] = 1;
  };
  if (order)
    for (const int64_t edge : order->values<int64_t>()) take(static_cast<size_t>(edge));
  else
    for (size_t edge = 0; edge < ends.size(); ++edge) take(edge);
  return wanted_edges(is_taken);
}

Column hopcroft_karp_matching(const Graph& graph, const Column& top) {
  constexpr const char* kOp = "hopcroft_karp_matching";
  check(kOp, graph);
  const Csr& csr = graph.out();
  BudgetedVector<uint8_t> is_top(static_cast<size_t>(csr.vertices));
  for (const int64_t v : top.values<int64_t>()) is_top[static_cast<size_t>(v)] = 1;
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v)
      for (const uint32_t target : csr.row(v))
        if (is_top[static_cast<size_t>(v)] == is_top[target])
          throw_error<InvalidArgumentError>(
              kOp, "an edge is within a side",
              {{"row of nodes", v}, {"other row", static_cast<int64_t>(target)}},
              "give all vertices of one side: top_nodes=");
  });
  HopcroftKarp search(csr, top);
  const BudgetedVector<uint32_t>& mates = search.run();
  BudgetedVector<uint8_t> is_taken(static_cast<size_t>(graph.num_edges()));
  for (const int64_t u : top.values<int64_t>()) {
    const std::span<const uint32_t> row = csr.row(u);
    const auto found = std::ranges::lower_bound(row, mates[static_cast<size_t>(u)]);
    if (mates[static_cast<size_t>(u)] != kNone)
      is_taken[csr.edges.as<uint32_t>()[csr.begin(u) + (found - row.begin())]] = 1;
  }
  return wanted_edges(is_taken);
}

bool is_bipartite(const Graph& graph) {
  check("is_bipartite", graph);
  DisjointSets<uint32_t> sets = sides_of(graph);
  const auto vertices = static_cast<uint32_t>(graph.num_vertices());
  for (uint32_t v = 0; v < vertices; ++v)
    if (sets.root(v) == sets.root(v + vertices)) return false;
  return true;
}

Column bipartite_color(const Graph& graph) {
  check("bipartite_color", graph);
  DisjointSets<uint32_t> sets = sides_of(graph);
  const int64_t count = graph.num_vertices();
  const auto vertices = static_cast<uint32_t>(count);
  Buffer made = Buffer::allocate(8 * count);
  auto* const out = made.mutable_as<int64_t>();
  parallel_morsels(count, [&](Morsel morsel) {
    for (int64_t v = morsel.begin; v < morsel.end; ++v) {
      // The lowest copy of a component is its first vertex.
      const uint32_t own = sets.root(static_cast<uint32_t>(v));
      const uint32_t other = sets.root(static_cast<uint32_t>(v) + vertices);
      if (own == other)
        throw_error<InvalidArgumentError>("bipartite_color", "not bipartite: a cycle of odd length",
                                          {{"row of nodes", v}});
      out[v] = own < other && graph.out().degree(v) > 0;
    }
  });
  made.seal();
  return Column(TypeId::kInt64, count, std::move(made));
}

NodePtr bipartite_color_table(const Graph& graph) {
  return vertex_table(graph, "bipartite_color", {}, {{"color", TypeId::kInt64}}, {},
                      [graph](const std::vector<bool>&, std::span<const Value>) {
                        return std::vector{bipartite_color(graph)};
                      });
}

}  // namespace hr
