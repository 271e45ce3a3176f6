// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden: move, put together, again on what is left.
#include "headrace/graph/community/communities.h"

#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/community/local_moving.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace hr {

namespace {

using Groups = BudgetedVector<uint32_t>;

constexpr int64_t kFew = 1 << 10;  // vertices
constexpr uint64_t kDraws = 8;

Groups alone(int64_t vertices) {
  Groups made(static_cast<size_t>(vertices));
  std::iota(made.begin(), made.end(), 0u);
  return made;
}

// Groups of groups: `of_vertices` of numbers below the size of `of_groups`.
void compose(Groups& of_vertices, const Groups& of_groups) {
  for (uint32_t& group : of_vertices) group = of_groups[group];
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

// One pass of Leiden from `groups`; whether a vertex moved.
bool improve(const WeightedRows& rows, Resolution resolution, uint64_t seed, Groups& groups) {
  WeightedRows level = rows;
  Groups of_level = groups;                  // groups of the level's vertices
  Groups vertices = alone(rows.vertices());  // the level's vertex of each vertex
  bool moved = false;
  for (;;) {
    moved = move_vertices(level, resolution, seed, of_level) > 0 || moved;
    Groups parts = refine(level, resolution, seed, of_level);
    const int64_t count = number_groups(parts, parts.size());
    if (count == level.vertices()) break;
    // The parts start in the groups that they are parts of.
    Groups of_parts(static_cast<size_t>(count));
    for (size_t v = 0; v < parts.size(); ++v) of_parts[parts[v]] = of_level[v];
    number_groups(of_parts, of_level.size());
    level = aggregate(level, parts, count);
    compose(vertices, parts);
    of_level = std::move(of_parts);
  }
  groups = std::move(vertices);
  compose(groups, connected_parts(level, of_level));
  number_groups(groups, groups.size());
  return moved;
}

Groups pass_of_louvain(const WeightedRows& rows, const LouvainOptions& options, uint64_t seed) {
  const Resolution resolution{options.resolution / static_cast<double>(rows.total)};
  Groups groups = alone(rows.vertices());
  double before = modularity(rows, options.resolution, groups);
  WeightedRows level = rows;
  for (int64_t i = 0; i != options.max_level; ++i) {
    Groups of_level = alone(level.vertices());
    if (move_vertices(level, resolution, seed, of_level) == 0) break;
    const int64_t count = number_groups(of_level, of_level.size());
    const double now = modularity(level, options.resolution, of_level);
    if (now <= before) break;
    compose(groups, of_level);
    if (now - before <= options.threshold || count == level.vertices()) break;
    before = now;
    level = aggregate(level, of_level, count);
  }
  return groups;
}

Groups passes_of_leiden(const WeightedRows& rows, const LeidenOptions& options, uint64_t seed) {
  const Resolution resolution{options.resolution / static_cast<double>(rows.total)};
  Groups groups = alone(rows.vertices());
  for (int64_t i = 0; i != options.n_iterations; ++i)
    if (!improve(rows, resolution, seed + static_cast<uint64_t>(i), groups)) break;
  return groups;
}

// The best of a few draws where vertices are few: there one unlucky order costs much.
template <class Options, class Find>
Groups best_of(const WeightedRows& rows, const Options& options, Find&& find) {
  if (rows.total == 0) return alone(rows.vertices());
  Groups best = find(rows, options, options.seed);
  if (rows.vertices() > kFew) return best;
  double most = modularity(rows, options.resolution, best);
  for (uint64_t i = 1; i < kDraws; ++i) {
    Groups other = find(rows, options, options.seed ^ i << 32);
    const double now = modularity(rows, options.resolution, other);
    if (now <= most) continue;
    most = now;
    best = std::move(other);
  }
  return best;
}

}  // namespace

Column louvain(const Graph& graph, const std::optional<Column>& weights,
               const LouvainOptions& options) {
  check_resolution("louvain", options.resolution);
  return column_of(best_of(weighted_rows("louvain", graph, weights), options, pass_of_louvain));
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
  const Resolution resolution{options.louvain.resolution / static_cast<double>(rows.total)};
  BudgetedVector<int64_t> together(rows.targets.size());
  for (int64_t i = 0; i < options.ensemble_size; ++i) {
    report_progress(i, options.ensemble_size);
    Groups groups = alone(rows.vertices());
    move_vertices(rows, resolution, options.louvain.seed ^ static_cast<uint64_t>(i) << 32, groups);
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
  return column_of(best_of(rows, options.louvain, pass_of_louvain));
}

Column leiden(const Graph& graph, const std::optional<Column>& weights,
              const LeidenOptions& options) {
  check_resolution("leiden", options.resolution);
  return column_of(best_of(weighted_rows("leiden", graph, weights), options, passes_of_leiden));
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
                        Column (*find)(const Graph&, const std::optional<Column>&,
                                       const Options&)) {
  const auto run = [graph, options, find](const std::vector<bool>&, std::span<const Value> values) {
    return std::vector{
        find(graph, values.empty() ? std::nullopt : std::optional(std::get<Column>(values[0])),
             options)};
  };
  std::vector<NodePtr> inputs;
  if (weights) inputs.push_back(weights);
  return vertex_table(graph, op, std::move(details), {{"community", TypeId::kInt64}},
                      std::move(inputs), run);
}

}  // namespace

NodePtr louvain_table(const Graph& graph, const NodePtr& weights, const LouvainOptions& options) {
  return community_table("louvain", graph, weights, word_of(options), options, &louvain);
}

NodePtr leiden_table(const Graph& graph, const NodePtr& weights, const LeidenOptions& options) {
  return community_table("leiden", graph, weights, word_of(options), options, &leiden);
}

NodePtr ensemble_clustering_table(const Graph& graph, const NodePtr& weights,
                                  const EnsembleOptions& options) {
  return community_table("ecg", graph, weights, word_of(options.louvain), options,
                         &ensemble_clustering);
}

}  // namespace hr
