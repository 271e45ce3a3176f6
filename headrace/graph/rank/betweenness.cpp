// SPDX-License-Identifier: Apache-2.0
// Betweenness by levels.
#include "headrace/graph/rank/betweenness.h"

#include "headrace/base/error.h"
#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/rank/betweenness_kernels.h"
#include "headrace/graph/search/dijkstra.h"
#include "headrace/graph/search/waves.h"
#include "headrace/graph/structure/optional_inputs.h"
#include "headrace/graph/structure/simple_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hr {

namespace {

using Vector = BudgetedVector<double>;

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// The shortest paths from one source, on one thread.
class Paths {
 public:
  Paths(const SimpleRows& rows, std::string_view op)
      : rows_(rows.csr),
        op_(op),
        weights_(rows.weights ? rows.weights.as<double>() : nullptr),
        dijkstra_(weights_ ? rows.csr.vertices : 0),
        levels_(static_cast<size_t>(weights_ ? 0 : rows.csr.vertices), kNone),
        order_(levels_.size()),
        counts_(static_cast<size_t>(rows.csr.vertices)),
        shares_(counts_.size()) {}

  // Counts them, then goes back: `passed(v, sum)` has how many of the paths from the source to
  // others go through v, a path to a vertex as a share of all to it.
  template <class Passed>
  void run(uint32_t source, Passed&& passed) {
    weights_ ? count_by_weights(source) : count_by_levels(source);
    const std::span<const uint32_t> reached = order();
    for (size_t i = reached.size(); i-- > 0;) {
      const uint32_t v = reached[i];
      double sum = 0;
      each_next(v, [&](int64_t entry) { sum += shares_[rows_.targets[entry]]; });
      sum *= counts_[v];
      shares_[v] = (1 + sum) / counts_[v];
      if (!std::isfinite(counts_[v]))
        throw_error<InvalidArgumentError>(op_, "there are more shortest paths than float64 counts",
                                          {{"source", static_cast<int64_t>(source)}});
      passed(v, sum);
    }
  }

  // Adds what goes along each edge of a vertex to its entries.
  void add_entries(uint32_t v, double* entries) const {
    if (is_reached(v))
      each_next(
          v, [&](int64_t entry) { entries[entry] += counts_[v] * shares_[rows_.targets[entry]]; });
  }

  // From the source outwards.
  std::span<const uint32_t> order() const {
    return weights_ ? std::span(dijkstra_.order()) : std::span(order_).first(reached_);
  }

 private:
  bool is_reached(uint32_t v) const {
    return weights_ ? dijkstra_.place(v) != Dijkstra::kOpen : levels_[v] != kNone;
  }

  // The entries of v that shortest paths go along.
  template <class F>
  void each_next(uint32_t v, F&& f) const {
    const int64_t begin = rows_.offsets[v], end = rows_.offsets[v + 1];
    const uint32_t* const targets = rows_.targets;
    if (weights_) {
      const double distance = dijkstra_.distance(v);
      for (int64_t i = begin; i < end; ++i)
        if (distance + weights_[i] == dijkstra_.distance(targets[i]) &&
            dijkstra_.place(v) < dijkstra_.place(targets[i]))
          f(i);
    } else {
      // Listed first, without branches: which entries these are cannot be foreseen.
      const uint32_t next = levels_[v] + 1;
      std::array<int64_t, 64> found;
      for (int64_t i = begin; i < end;) {
        const int64_t last = std::min<int64_t>(i + 64, end);
        size_t count = 0;
        for (; i < last; ++i) {
          found[count] = i;
          count += levels_[targets[i]] == next;
        }
        for (size_t k = 0; k < count; ++k) f(found[k]);
      }
    }
  }

  void count_by_levels(uint32_t source) {
    for (const uint32_t v : order()) levels_[v] = kNone;
    order_[0] = source;
    levels_[source] = 0;
    counts_[source] = 1;
    reached_ = 1;
    for (size_t i = 0; i < reached_; ++i) {
      const uint32_t v = order_[i], next = levels_[v] + 1;
      for (const uint32_t w : rows_[v]) {
        if (levels_[w] != kNone) continue;
        levels_[w] = next;
        counts_[w] = 0;
        order_[reached_++] = w;
      }
      each_next(v, [&](int64_t entry) { counts_[rows_.targets[entry]] += counts_[v]; });
    }
  }

  void count_by_weights(uint32_t source) {
    counts_[source] = 1;
    dijkstra_.run(rows_, weights_, source, [&](uint32_t v, uint32_t w, bool is_shorter) {
      counts_[w] = is_shorter ? counts_[v] : counts_[w] + counts_[v];
    });
  }

  CsrRows rows_;
  std::string_view op_;
  const double* weights_;
  Dijkstra dijkstra_;
  BudgetedVector<uint32_t> levels_;
  BudgetedVector<uint32_t> order_;
  size_t reached_ = 0;
  Vector counts_;
  Vector shares_;  // of each vertex, 1 and what passes through it over the paths to it
};

// Sources at once: two a thread, and in small graphs enough to be worth a start. Sums do not depend
// on it.
int64_t wave_of(int64_t vertices) {
  return std::max<int64_t>(2 * threads(), std::min<int64_t>(64, (1 << 20) / vertices));
}

using Scale = BetweennessScale;

// NetworkX's: of a sample a source is not a source of paths through itself, unless ends count.
Scale scale_of(const Graph& graph, const BetweennessOptions& options, bool endpoints) {
  const auto vertices = static_cast<double>(graph.num_vertices());
  const double others = endpoints ? vertices : vertices - 1;
  if (others < 2) return {1, 1};
  const double sources = options.is_sample ? static_cast<double>(options.sources.size()) : others;
  const auto scale = [&](double count) {
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    return options.normalized ? 1 / (count * (others - 1))
                              : others / (count * (graph.is_directed() ? 1 : 2));
  };
  const double all = scale(sources);
  return {all, options.is_sample && !endpoints ? scale(sources - 1) : all};
}

// Kernels for CUDA do not weigh edges, nor skip repeated ones.
bool runs_there(const Graph& graph, bool has_weights) {
  return !has_weights && !graph.is_multigraph();
}

}  // namespace

Column betweenness(const Graph& graph, const BetweennessOptions& options,
                   const std::optional<Column>& weights) {
  constexpr std::string_view kOp = "betweenness_centrality";
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu() && runs_there(graph, weights.has_value()))
      return cuda::betweenness(graph, options, scale_of(graph, options, options.endpoints));
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate_zeroed(8 * vertices);
  if (vertices == 0) return Column(TypeId::kFloat64, 0, std::move(made));
  auto* const out = made.mutable_as<double>();
  const SimpleRows rows = simple_rows(kOp, graph, weights, WeightRule::kPositive);
  ScratchPool<Paths> pool([&] { return Paths(rows, kOp); });
  const double end = options.endpoints ? 1 : 0;
  std::vector<Vector> sums;
  const auto sources = static_cast<int64_t>(options.sources.size());
  each_wave(sources, wave_of(vertices), [&](int64_t first, int64_t count) {
    while (static_cast<int64_t>(sums.size()) < count)
      sums.emplace_back(static_cast<size_t>(vertices));
    parallel_for(count, [&](int64_t i) {
      Vector& own = sums[static_cast<size_t>(i)];
      const auto source = static_cast<uint32_t>(options.sources[static_cast<size_t>(first + i)]);
      std::fill(own.begin(), own.end(), 0);
      pool.lend([&](Paths& paths) {
        paths.run(source, [&](uint32_t v, double sum) { own[v] = sum + end; });
        own[source] = end * static_cast<double>(paths.order().size() - 1);
      });
    });
    parallel_morsels(vertices, [&](Morsel morsel) {
      for (int64_t i = 0; i < count; ++i)
        for (int64_t v = morsel.begin; v < morsel.end; ++v)
          out[v] += sums[static_cast<size_t>(i)][static_cast<size_t>(v)];
    });
  });
  const Scale scale = scale_of(graph, options, options.endpoints);
  std::vector<bool> is_source(static_cast<size_t>(vertices));
  for (const int64_t source : options.sources) is_source[static_cast<size_t>(source)] = true;
  for (int64_t v = 0; v < vertices; ++v)
    out[v] *= is_source[static_cast<size_t>(v)] ? scale.of_sources : scale.of_others;
  return Column(TypeId::kFloat64, vertices, std::move(made));
}

namespace {

// Sums of entries without repeats to edges.
void spread(const Graph& graph, const SimpleRows& rows, const Vector& sums, const double* weights,
            double scale, double* out) {
  const Csr& csr = graph.out();
  const auto* const edges = csr.edges.as<uint32_t>();
  // An undirected edge is two entries: the first of them writes, then the other adds.
  for (const bool is_back : {false, true}) {
    if (is_back && graph.is_directed()) break;
    parallel_rows(csr, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        const std::span<const uint32_t> row = csr.row(v);
        const int64_t begin = csr.begin(v);
        int64_t simple = rows.csr.begin(v);
        for (size_t i = 0, end = 0; i < row.size(); i = end, ++simple) {
          const auto is_shortest = [&](size_t entry) {
            return !weights || weights[begin + static_cast<int64_t>(entry)] ==
                                   rows.weights.as<double>()[simple];
          };
          double count = 0;
          for (end = i; end < row.size() && row[end] == row[i]; ++end) count += is_shortest(end);
          if (!graph.is_directed() && is_back != (row[i] < v)) continue;
          const double share = sums[static_cast<size_t>(simple)] * scale / count;
          for (size_t entry = i; entry < end; ++entry)
            if (is_shortest(entry)) out[edges[begin + static_cast<int64_t>(entry)]] += share;
        }
      }
    });
  }
}

}  // namespace

Column edge_betweenness(const Graph& graph, const BetweennessOptions& options,
                        const std::optional<Column>& weights) {
  constexpr std::string_view kOp = "edge_betweenness_centrality";
  const int64_t edges = graph.num_edges();
  Buffer made = Buffer::allocate_zeroed(8 * edges);
  if (edges == 0) return Column(TypeId::kFloat64, 0, std::move(made));
  const SimpleRows rows = simple_rows(kOp, graph, weights, WeightRule::kPositive);
  Vector sums(static_cast<size_t>(rows.csr.entries()));
  std::vector<Paths> paths;
  const auto sources = static_cast<int64_t>(options.sources.size());
  each_wave(sources, wave_of(graph.num_vertices()), [&](int64_t first, int64_t count) {
    while (static_cast<int64_t>(paths.size()) < count) paths.emplace_back(rows, kOp);
    parallel_for(count, [&](int64_t i) {
      paths[static_cast<size_t>(i)].run(
          static_cast<uint32_t>(options.sources[static_cast<size_t>(first + i)]),
          [](uint32_t, double) {});
    });
    parallel_rows(rows.csr, [&](Morsel piece) {
      for (int64_t i = 0; i < count; ++i)
        for (int64_t v = piece.begin; v < piece.end; ++v)
          paths[static_cast<size_t>(i)].add_entries(static_cast<uint32_t>(v), sums.data());
    });
  });
  Buffer of_entries;
  if (weights && graph.is_multigraph())
    of_entries = entry_weights(kOp, graph.out(), *weights, WeightRule::kPositive);
  spread(graph, rows, sums, of_entries ? of_entries.as<double>() : nullptr,
         scale_of(graph, options, true).of_others, made.mutable_as<double>());
  return Column(TypeId::kFloat64, edges, std::move(made));
}

namespace {

std::string arguments_of(const BetweennessOptions& options) {
  return std::to_string(options.sources.size()) + " sources";
}

}  // namespace

NodePtr betweenness_table(const Graph& graph, BetweennessOptions options, const NodePtr& weights) {
  return vertex_table(
      graph, "betweenness_centrality", arguments_of(options), {{"betweenness", TypeId::kFloat64}},
      OptionalInputs::given({weights}),
      [graph, options, inputs = OptionalInputs({weights})](const std::vector<bool>&,
                                                           std::span<const Value> values) {
        return std::vector{betweenness(graph, options, inputs.columns(values)[0])};
      },
      runs_there(graph, weights != nullptr) ? Kernels::kHostAndCuda : Kernels::kHost);
}

NodePtr edge_betweenness_table(const Graph& graph, BetweennessOptions options,
                               const NodePtr& weights, uint64_t domain) {
  return graph_table(
      "edge_betweenness_centrality", arguments_of(options), {{"betweenness", TypeId::kFloat64}},
      OptionalInputs::given({weights}), graph.num_edges(), domain,
      [graph, options, inputs = OptionalInputs({weights})](const std::vector<bool>&,
                                                           std::span<const Value> values) {
        return std::vector{edge_betweenness(graph, options, inputs.columns(values)[0])};
      });
}

}  // namespace hr
