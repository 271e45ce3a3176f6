// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden level by level, wherever the rows are: a `Work` has their steps.
#pragma once
#include "headrace/graph/community/communities.h"
#include "headrace/graph/community/local_moving.h"
#include "headrace/graph/community/round_draw.h"

#include <deque>
#include <utility>
#include <vector>

namespace hr {

inline constexpr int64_t kFewVertices = 1 << 10;  // move one by one

inline Resolution resolution_of(double resolution, int64_t total) {
  return {resolution / static_cast<double>(total)};
}

/// All passes on the host; of few vertices the best of some draws. Any ids of groups.
BudgetedVector<uint32_t> louvain_groups(const WeightedRows& rows, const LouvainOptions& options);
BudgetedVector<uint32_t> leiden_groups(const WeightedRows& rows, const LeidenOptions& options);

/// The community of each vertex: up the levels, and down again, where vertices that the levels have
/// put together move one by one (R. Rotta, A. Noack, ACM J. Exp. Algorithmics 16, 2011).
template <class Work, class Rows>
auto pass_of_louvain(Work& work, const Rows& rows, const LouvainOptions& options, uint64_t seed) {
  const Resolution resolution = resolution_of(options.resolution, rows.total);
  using Groups = decltype(work.alone(0));
  std::deque<Rows> levels;     // above the rows
  std::vector<Groups> joined;  // the vertices of each level become those of the next
  const auto level = [&](size_t i) -> const Rows& { return i == 0 ? rows : levels[i - 1]; };
  double before = work.modularity(rows, options.resolution);
  for (int64_t i = 0; i != options.max_level; ++i) {
    const Rows& now = level(joined.size());
    const int64_t vertices = work.vertices(now);
    Groups of_level = work.alone(vertices);
    if (work.move_vertices(now, resolution, {seed, kLouvainStop}, of_level) == 0) break;
    const int64_t count = work.number_groups(of_level, vertices);
    Rows next = work.aggregate(now, of_level, count);
    const double after = work.modularity(next, options.resolution);
    if (after <= before) break;
    joined.push_back(std::move(of_level));
    if (after - before <= options.threshold || count == vertices) break;
    before = after;
    levels.push_back(std::move(next));
  }
  if (joined.empty()) return work.alone(work.vertices(rows));
  Groups groups = std::move(joined.back());
  for (size_t i = joined.size() - 1; i-- > 0;) {
    work.compose(joined[i], groups);
    groups = std::move(joined[i]);
    work.move_vertices(level(i), resolution, {seed, kLouvainStop}, groups);
  }
  return groups;
}

/// One pass of Leiden from `groups`; whether a vertex moved.
template <class Work, class Rows, class Groups>
bool improve(Work& work, const Rows& rows, Resolution resolution, MoveRules rules, Groups& groups) {
  const int64_t all = work.vertices(rows);
  Rows level = rows;
  Groups of_level = work.copy(groups);  // groups of the level's vertices
  Groups vertices = work.alone(all);    // the level's vertex of each vertex
  bool moved = false;
  for (;;) {
    moved = work.move_vertices(level, resolution, rules, of_level) > 0 || moved;
    rules.slices = 1;
    Groups parts = work.refine(level, resolution, rules.seed, of_level);
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
  for (int64_t i = 0; i != options.n_iterations; ++i) {
    const uint64_t own_seed = seed + static_cast<uint64_t>(i);
    if (!improve(work, rows, resolution, {own_seed, kLeidenStop, i == 0 ? kSlices : 1}, groups))
      break;
  }
  return groups;
}

}  // namespace hr
