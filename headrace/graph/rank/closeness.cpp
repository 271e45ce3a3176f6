// SPDX-License-Identifier: Apache-2.0
// Closeness by many searches.
#include "headrace/graph/rank/closeness.h"

#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/bfs_lanes.h"
#include "headrace/graph/search/dijkstra.h"
#include "headrace/graph/search/many_bfs.h"
#include "headrace/graph/search/waves.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/optional_inputs.h"

#include <array>

namespace hr {

namespace {

// The other vertices with a path to one.
struct Others {
  int64_t count = 0;
  double distance = 0;  // sums
  double inverse = 0;
};

double score_of(const Others& others, ClosenessKind kind, int64_t vertices) {
  if (kind == ClosenessKind::kReciprocal) return others.inverse;
  if (others.distance == 0) return 0;
  const auto count = static_cast<double>(others.count);
  const double score = count / others.distance;
  const double share = count / static_cast<double>(vertices - 1);
  return kind == ClosenessKind::kImproved ? score * share : score;
}

std::string_view word_of(ClosenessKind kind) {
  return kind == ClosenessKind::kReciprocal ? "harmonic_centrality" : "closeness_centrality";
}

// Runs `body(i)` for tasks in turn, two a thread at once.
template <class Body>
void each_task(int64_t tasks, Body&& body) {
  each_wave(tasks, 2 * threads(), [&](int64_t first, int64_t count) {
    parallel_for(count, [&](int64_t i) { body(first + i); });
  });
}

// 64 searches backwards, and how many vertices each has found at a level, by piece.
struct Search {
  BfsLanes lanes;
  std::vector<std::array<int64_t, BfsLanes::kLanes>> counts;

  Search(const Csr& csr, bool is_symmetric)
      : lanes(csr, is_symmetric), counts(static_cast<size_t>(lanes.pieces())) {}

  void run(std::span<const int64_t> asked, std::span<Others> others) {
    lanes.run(
        asked, std::numeric_limits<uint32_t>::max() - 1,
        [&](int64_t piece, int64_t, uint64_t found, uint32_t) {
          auto& own = counts[static_cast<size_t>(piece)];
          for (; found != 0; found &= found - 1)
            ++own[static_cast<size_t>(std::countr_zero(found))];
        },
        [&](uint32_t level) {
          for (size_t lane = 0; lane < asked.size(); ++lane) {
            int64_t count = 0;
            for (auto& own : counts) count += std::exchange(own[lane], 0);
            others[lane].count += count;
            others[lane].distance += static_cast<double>(count) * level;
            others[lane].inverse += static_cast<double>(count) / level;
          }
        });
  }
};

std::vector<Others> others_by_levels(const Graph& graph, std::span<const int64_t> asked) {
  std::vector<Others> made(asked.size());
  const Csr in = graph.in();
  ScratchPool<Search> pool([&] { return Search(in, !graph.is_directed()); });
  const auto count = static_cast<int64_t>(asked.size());
  each_task((count + BfsLanes::kLanes - 1) / BfsLanes::kLanes, [&](int64_t i) {
    const Morsel some = morsel_at(i, count, BfsLanes::kLanes);
    const auto first = static_cast<size_t>(some.begin);
    const auto size = static_cast<size_t>(some.end - some.begin);
    pool.lend([&](Search& search) {
      search.run(asked.subspan(first, size), std::span(made).subspan(first, size));
    });
  });
  return made;
}

std::vector<Others> others_by_weights(const Graph& graph, std::string_view op,
                                      std::span<const int64_t> asked, const Column& weights) {
  std::vector<Others> made(asked.size());
  const Csr in = graph.in();
  const Buffer of_entries = entry_weights(op, in, weights, WeightRule::kNotNegative);
  ScratchPool<Dijkstra> pool([&] { return Dijkstra(in.vertices); });
  each_task(static_cast<int64_t>(asked.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    pool.lend([&](Dijkstra& search) {
      search.run(CsrRows(in), of_entries.as<double>(), static_cast<uint32_t>(asked[at]),
                 [](uint32_t, uint32_t, bool) {});
      Others& own = made[at];
      own.count = static_cast<int64_t>(search.order().size()) - 1;
      for (const uint32_t v : search.order())
        if (const double distance = search.distance(v); distance > 0) {
          own.distance += distance;
          own.inverse += 1 / distance;
        }
    });
  });
  return made;
}

}  // namespace

Column closeness(const Graph& graph, ClosenessKind kind, std::span<const int64_t> asked,
                 const std::optional<Column>& weights) {
  const auto rows = static_cast<int64_t>(asked.size());
  Buffer made = Buffer::allocate_zeroed(8 * rows);
  if (rows > 0 && graph.out().entries() > 0) {
    const std::vector<Others> others =
        weights ? others_by_weights(graph, word_of(kind), asked, *weights)
                : others_by_levels(graph, asked);
    for (size_t i = 0; i < asked.size(); ++i)
      made.mutable_as<double>()[i] = score_of(others[i], kind, graph.num_vertices());
  }
  return Column(TypeId::kFloat64, rows, std::move(made));
}

Column reciprocal_distances(const Graph& graph, std::span<const int64_t> sources,
                            const std::optional<Column>& weights) {
  const Csr& csr = graph.out();
  const int64_t vertices = csr.vertices;
  Buffer made = Buffer::allocate_zeroed(8 * vertices);
  const auto count = static_cast<int64_t>(sources.size());
  if (count == 0 || csr.entries() == 0) return Column(TypeId::kFloat64, vertices, std::move(made));
  auto* const out = made.mutable_as<double>();
  // Adds those of `some` sources, of which `inverse(i, v)` tells the terms.
  const auto add = [&](int64_t some, auto&& inverse) {
    parallel_morsels(vertices, [&](Morsel morsel) {
      for (int64_t i = 0; i < some; ++i)
        for (int64_t v = morsel.begin; v < morsel.end; ++v) out[v] += inverse(i, v);
    });
  };
  if (!weights) {
    each_wave(count, BfsLanes::kLanes, [&](int64_t first, int64_t some) {
      const Buffer levels = many_bfs_levels(
          graph, sources.subspan(static_cast<size_t>(first), static_cast<size_t>(some)), kNoLevel);
      const auto* const level = levels.as<uint32_t>();
      add(some, [&](int64_t i, int64_t v) {
        const uint32_t found = level[i * vertices + v];
        return found == 0 || found == kNoLevel ? 0.0 : 1.0 / found;
      });
    });
    return Column(TypeId::kFloat64, vertices, std::move(made));
  }
  const Buffer of_entries =
      entry_weights("harmonic_centrality", csr, *weights, WeightRule::kNotNegative);
  std::vector<Dijkstra> searches;
  each_wave(count, 2 * threads(), [&](int64_t first, int64_t some) {
    while (static_cast<int64_t>(searches.size()) < some) searches.emplace_back(vertices);
    parallel_for(some, [&](int64_t i) {
      searches[static_cast<size_t>(i)].run(
          CsrRows(csr), of_entries.as<double>(),
          static_cast<uint32_t>(sources[static_cast<size_t>(first + i)]),
          [](uint32_t, uint32_t, bool) {});
    });
    add(some, [&](int64_t i, int64_t v) {
      const double distance = searches[static_cast<size_t>(i)].distance(static_cast<uint32_t>(v));
      return distance == 0 ? 0.0 : 1 / distance;
    });
  });
  return Column(TypeId::kFloat64, vertices, std::move(made));
}

NodePtr closeness_table(const Graph& graph, ClosenessKind kind, std::vector<int64_t> asked,
                        const NodePtr& weights, uint64_t domain) {
  const std::string word(word_of(kind));
  const auto rows = static_cast<int64_t>(asked.size());
  return graph_table(word, std::to_string(rows) + " vertices", {{word, TypeId::kFloat64}},
                     OptionalInputs::given({weights}), rows, domain,
                     [graph, kind, asked = std::move(asked), inputs = OptionalInputs({weights})](
                         const std::vector<bool>&, std::span<const Value> values) {
                       return std::vector{closeness(graph, kind, asked, inputs.columns(values)[0])};
                     });
}

NodePtr reciprocal_distance_table(const Graph& graph, std::vector<int64_t> sources,
                                  const NodePtr& weights) {
  const std::string word(word_of(ClosenessKind::kReciprocal));
  return vertex_table(
      graph, word, std::to_string(sources.size()) + " sources", {{word, TypeId::kFloat64}},
      OptionalInputs::given({weights}),
      [graph, sources = std::move(sources), inputs = OptionalInputs({weights})](
          const std::vector<bool>&, std::span<const Value> values) {
        return std::vector{reciprocal_distances(graph, sources, inputs.columns(values)[0])};
      });
}

}  // namespace hr
