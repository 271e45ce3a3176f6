// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden level by level, wherever the rows are: a `Work` has their steps.
#pragma once
#include "headrace/graph/community/communities.h"
#include "headrace/graph/community/local_moving.h"

#include <utility>

namespace hr {

inline constexpr int64_t kFewVertices = 1 << 10;  // move one by one

inline Resolution resolution_of(double resolution, int64_t total) {
  return {resolution / static_cast<double>(total)};
}

/// All passes on the host; of few vertices the best of some draws. Any ids of groups.
BudgetedVector<uint32_t> louvain_groups(const WeightedRows& rows, const LouvainOptions& options);
BudgetedVector<uint32_t> leiden_groups(const WeightedRows& rows, const LeidenOptions& options);

/// The community of each vertex.
template <class Work, class Rows>
auto pass_of_louvain(Work& work, const Rows& rows, const LouvainOptions& options, uint64_t seed) {
  const Resolution resolution = resolution_of(options.resolution, rows.total);
  auto groups = work.alone(work.vertices(rows));
  double before = work.modularity(rows, options.resolution);
  Rows level = rows;
  for (int64_t i = 0; i != options.max_level; ++i) {
    const int64_t vertices = work.vertices(level);
    auto of_level = work.alone(vertices);
    if (work.move_vertices(level, resolution, seed, of_level) == 0) break;
    const int64_t count = work.number_groups(of_level, vertices);
    Rows next = work.aggregate(level, of_level, count);
    const double now = work.modularity(next, options.resolution);
    if (now <= before) break;
    work.compose(groups, of_level);
    if (now - before <= options.threshold || count == vertices) break;
    before = now;
    level = std::move(next);
  }
  return groups;
}

/// One pass of Leiden from `groups`; whether a vertex moved.
template <class Work, class Rows, class Groups>
bool improve(Work& work, const Rows& rows, Resolution resolution, uint64_t seed, Groups& groups) {
  const int64_t all = work.vertices(rows);
  Rows level = rows;
  Groups of_level = work.copy(groups);  // groups of the level's vertices
  Groups vertices = work.alone(all);    // the level's vertex of each vertex
  bool moved = false;
  for (;;) {
    moved = work.move_vertices(level, resolution, seed, of_level) > 0 || moved;
    Groups parts = work.refine(level, resolution, seed, of_level);
    const int64_t before = work.vertices(level);
    const int64_t count = work.number_groups(parts, before);
    if (count == before) break;
    // The parts start in the groups that they are parts of.
    Groups of_parts = work.of_parts(parts, of_level, count);
    work.number_groups(of_parts, before);
    level = work.aggregate(level, parts, count);
    work.compose(vertices, parts);
    of_level = std::move(of_parts);
  }
  groups = std::move(vertices);
  work.compose(groups, work.connected_parts(level, of_level));
  work.number_groups(groups, all);
  return moved;
}

template <class Work, class Rows>
auto pass_of_leiden(Work& work, const Rows& rows, const LeidenOptions& options, uint64_t seed) {
  const Resolution resolution = resolution_of(options.resolution, rows.total);
  auto groups = work.alone(work.vertices(rows));
  for (int64_t i = 0; i != options.n_iterations; ++i)
    if (!improve(work, rows, resolution, seed + static_cast<uint64_t>(i), groups)) break;
  return groups;
}

}  // namespace hr
