// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden: move, put together, again on what is left.
#include "headrace/graph/community/communities.h"

#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/community/communities_kernels.h"
#include "headrace/graph/community/levels.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace hr {

namespace {

using Groups = BudgetedVector<uint32_t>;

constexpr uint64_t kDraws = 8;

Groups alone(int64_t vertices) {
  Groups made(static_cast<size_t>(vertices));
  std::iota(made.begin(), made.end(), 0u);
  return made;
}

Column column_of(Groups groups) {
  number_groups(groups, groups.size());
  const auto rows = static_cast<int64_t>(groups.size());
  Buffer made = Buffer::allocate(8 * rows);
  std::copy(groups.begin(), groups.end(), made.mutable_as<int64_t>());
  return Column(TypeId::kInt64, rows, std::move(made));
}

void check_resolution(std::string_view op, double resolution) {
  if (!(resolution > 0) || resolution == std::numeric_limits<double>::infinity())
    throw_error<InvalidArgumentError>(op, "expected a positive resolution",
                                      {{"resolution", resolution}});
}

// Calls f(v, at) for the entries of each vertex.
template <class F>
void each_entry(const WeightedRows& rows, F&& f) {
  parallel_vertices(rows.vertices(), [&](Morsel morsel) {
    for (auto v = static_cast<uint32_t>(morsel.begin); v < static_cast<uint64_t>(morsel.end); ++v)
      for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) f(v, static_cast<size_t>(i));
  });
}

// The connected parts of groups: a vertex that held one together may have left it in the last
// round, and modularity only gains by the split.
Groups connected_parts(const WeightedRows& rows, const Groups& groups) {
  DisjointSets<uint32_t> sets(rows.vertices());
  each_entry(rows, [&](uint32_t v, size_t at) {
    if (groups[rows.targets[at]] == groups[v]) sets.join(v, rows.targets[at]);
  });
  Groups made(groups.size());
  parallel_vertices(rows.vertices(), [&](Morsel morsel) {
    for (int64_t v = morsel.begin; v < morsel.end; ++v)
      made[static_cast<size_t>(v)] = sets.root(static_cast<uint32_t>(v));
  });
  return made;
}

// The steps of levels on the host.
struct HostWork {
  static int64_t vertices(const WeightedRows& rows) { return rows.vertices(); }

  static Groups alone(int64_t vertices) { return hr::alone(vertices); }

  static Groups copy(const Groups& groups) { return groups; }

  static int64_t move_vertices(const WeightedRows& rows, Resolution resolution,
                               const MoveRules& rules, Groups& groups) {
    return hr::move_vertices(rows, resolution, rules, groups);
  }

  static Groups refine(const WeightedRows& rows, Resolution resolution, uint64_t seed,
                       const Groups& groups) {
    return hr::refine(rows, resolution, seed, groups);
  }

  static int64_t number_groups(Groups& groups, int64_t bound) {
    return hr::number_groups(groups, static_cast<size_t>(bound));
  }

  static WeightedRows aggregate(const WeightedRows& rows, const Groups& groups, int64_t count) {
    return hr::aggregate(rows, groups, count);
  }

  // Groups of groups: `of_vertices` of numbers below the size of `of_groups`.
  static void compose(Groups& of_vertices, const Groups& of_groups) {
    for (uint32_t& group : of_vertices) group = of_groups[group];
  }

  // The groups that numbered parts are in.
  static Groups of_parts(const Groups& parts, const Groups& groups, int64_t count) {
    Groups made(static_cast<size_t>(count));
    for (size_t v = 0; v < parts.size(); ++v) made[parts[v]] = groups[v];
    return made;
  }

  static Groups connected_parts(const WeightedRows& rows, const Groups& groups) {
    return hr::connected_parts(rows, groups);
  }

  static double modularity(const WeightedRows& rows, double resolution) {
    return modularity_alone(rows, resolution);
  }
};

Groups pass_of(const WeightedRows& rows, const LouvainOptions& options, uint64_t seed) {
  HostWork work;
  return pass_of_louvain(work, rows, options, seed);
}

Groups pass_of(const WeightedRows& rows, const LeidenOptions& options, uint64_t seed) {
  HostWork work;
  return pass_of_leiden(work, rows, options, seed);
}

// The best of a few draws where vertices are few: there one unlucky order costs much.
template <class Options>
Groups best_of(const WeightedRows& rows, const Options& options) {
  if (rows.total == 0) return alone(rows.vertices());
  Groups best = pass_of(rows, options, options.seed);
  if (rows.vertices() > kFewVertices) return best;
  double most = modularity(rows, options.resolution, best);
  for (uint64_t i = 1; i < kDraws; ++i) {
    Groups other = pass_of(rows, options, options.seed ^ i << 32);
    const double now = modularity(rows, options.resolution, other);
    if (now <= most) continue;
    most = now;
    best = std::move(other);
  }
  return best;
}

}  // namespace

BudgetedVector<uint32_t> louvain_groups(const WeightedRows& rows, const LouvainOptions& options) {
  return best_of(rows, options);
}

BudgetedVector<uint32_t> leiden_groups(const WeightedRows& rows, const LeidenOptions& options) {
  return best_of(rows, options);
}

Column louvain(const Graph& graph, const std::optional<Column>& weights,
               const LouvainOptions& options) {
  check_resolution("louvain", options.resolution);
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::louvain(graph, weights, options);
  return column_of(louvain_groups(weighted_rows("louvain", graph, weights), options));
}

Column ensemble_clustering(const Graph& graph, const std::optional<Column>& weights,
                           const EnsembleOptions& options) {
  constexpr const char* kOp = "ecg";
  check_resolution(kOp, options.louvain.resolution);
  if (options.ensemble_size < 1 || !(options.min_weight > 0 && options.min_weight <= 1))
    throw_error<InvalidArgumentError>(
        kOp, "invalid ensemble",
        {{"ensemble_size", options.ensemble_size}, {"min_weight", options.min_weight}},
        "use a size from 1 on and a weight above 0, at most 1");
  WeightedRows rows = weighted_rows(kOp, graph, weights);
  if (rows.total == 0) return column_of(alone(rows.vertices()));
  const Resolution resolution = resolution_of(options.louvain.resolution, rows.total);
  BudgetedVector<int64_t> together(rows.targets.size());
  for (int64_t i = 0; i < options.ensemble_size; ++i) {
    report_progress(i, options.ensemble_size);
    Groups groups = alone(rows.vertices());
    const uint64_t seed = options.louvain.seed ^ static_cast<uint64_t>(i) << 32;
    move_vertices(rows, resolution, {seed, kLeidenStop, kSlices}, groups);
    each_entry(rows, [&](uint32_t v, size_t at) {
      together[at] += groups[v] == groups[rows.targets[at]];
    });
  }
  constexpr double kWhole = 1 << 24;  // the weight of an edge that is always within
  each_entry(rows, [&](uint32_t v, size_t at) {
    const double share =
        static_cast<double>(together[at]) / static_cast<double>(options.ensemble_size);
    const double weight = options.min_weight + (1 - options.min_weight) * share;
    rows.weights[at] = std::llrint(weight * kWhole) * (rows.targets[at] == v ? 2 : 1);
  });
  add_up(rows, rows.vertices());
  return column_of(best_of(rows, options.louvain));
}

Column leiden(const Graph& graph, const std::optional<Column>& weights,
              const LeidenOptions& options) {
  check_resolution("leiden", options.resolution);
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::leiden(graph, weights, options);
  return column_of(leiden_groups(weighted_rows("leiden", graph, weights), options));
}

double modularity(const Graph& graph, const Column& labels, const std::optional<Column>& weights,
                  double resolution) {
  const WeightedRows rows = weighted_rows("modularity", graph, weights);
  if (rows.total == 0) return std::numeric_limits<double>::quiet_NaN();
  const std::span<const int64_t> given = labels.values<int64_t>();
  Groups groups(given.begin(), given.end());
  return modularity(rows, resolution, groups);
}

namespace {

template <class Options>
std::string word_of(const Options& options) {
  return "resolution=" + std::to_string(options.resolution);
}

template <class Options>
NodePtr community_table(std::string_view op, const Graph& graph, const NodePtr& weights,
                        std::string details, const Options& options,
                        Column (*find)(const Graph&, const std::optional<Column>&, const Options&),
                        Kernels kernels) {
  const auto run = [graph, options, find](const std::vector<bool>&, std::span<const Value> values) {
    return std::vector{
        find(graph, values.empty() ? std::nullopt : std::optional(std::get<Column>(values[0])),
             options)};
  };
  std::vector<NodePtr> inputs;
  if (weights) inputs.push_back(weights);
  return vertex_table(graph, op, std::move(details), {{"community", TypeId::kInt64}},
                      std::move(inputs), run, kernels);
}

}  // namespace

NodePtr louvain_table(const Graph& graph, const NodePtr& weights, const LouvainOptions& options) {
  return community_table("louvain", graph, weights, word_of(options), options, &louvain,
                         Kernels::kHostAndCuda);
}

NodePtr leiden_table(const Graph& graph, const NodePtr& weights, const LeidenOptions& options) {
  return community_table("leiden", graph, weights, word_of(options), options, &leiden,
                         Kernels::kHostAndCuda);
}

NodePtr ensemble_clustering_table(const Graph& graph, const NodePtr& weights,
                                  const EnsembleOptions& options) {
  return community_table("ecg", graph, weights, word_of(options.louvain), options,
                         &ensemble_clustering, Kernels::kHost);
}

}  // namespace hr
