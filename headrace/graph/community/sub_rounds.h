// SPDX-License-Identifier: Apache-2.0
// Sub-rounds: vertices decide on one snapshot, so that the answer does not depend on threads.
#pragma once
#include "headrace/graph/community/round_draw.h"
#include "headrace/graph/structure/weighted_rows.h"

#include <limits>

namespace hr {

inline constexpr uint32_t kStays = std::numeric_limits<uint32_t>::max();

/// A vertex and the group that it goes to.
struct Move {
  uint32_t vertex;
  uint32_t group;
};

using Moves = BudgetedVector<Move>;

/// BudgetedVector<uint32_t> for which `wanted` holds, by a draw that says which sub-round they are
/// in, slice by slice. Few vertices decide one after the other: there a snapshot of the others
/// would be far off.
template <class F>
std::vector<BudgetedVector<uint32_t>> draw_sub_rounds(int64_t vertices, RandomKey key, F&& wanted,
                                                      int slices = 1) {
  const auto draw = [&](uint32_t v) { return round_draw(key, v); };
  constexpr int64_t kAlone = 1 << 10;  // vertices up to which each has a sub-round of its own
  if (vertices <= kAlone) {
    BudgetedVector<uint32_t> order;
    for (uint32_t v = 0; v < vertices; ++v)
      if (wanted(v)) order.push_back(v);
    std::ranges::sort(order, {}, draw);
    std::vector<BudgetedVector<uint32_t>> made;
    for (const uint32_t v : order) made.emplace_back(1, v);
    return made;
  }
  std::vector<BudgetedVector<uint32_t>> made(static_cast<size_t>(slices * kSubRounds));
  std::vector parts(static_cast<size_t>(num_morsels(vertices)), made);
  parallel_morsels(vertices, [&](Morsel morsel) {
    auto& own = parts[static_cast<size_t>(morsel.index)];
    for (auto v = static_cast<uint32_t>(morsel.begin); v < static_cast<uint64_t>(morsel.end); ++v)
      if (wanted(v))
        own[static_cast<size_t>(slice_of(draw(v), slices) * kSubRounds + sub_round_of(draw(v)))]
            .push_back(v);
  });
  for (const auto& part : parts)
    for (size_t r = 0; r < made.size(); ++r)
      made[r].insert(made[r].end(), part[r].begin(), part[r].end());
  return made;
}

/// What `decide(v, sums)` chooses for each vertex, but kStays.
template <class F>
Moves decide_all(const BudgetedVector<uint32_t>& vertices, ScratchPool<GroupSums>& pool,
                 F&& decide) {
  const auto count = static_cast<int64_t>(vertices.size());
  constexpr int64_t kStep = 1 << 8;
  std::vector<Moves> parts(static_cast<size_t>((count + kStep - 1) / kStep));
  parallel_for(static_cast<int64_t>(parts.size()), [&](int64_t task) {
    pool.lend([&](GroupSums& sums) {
      const Morsel morsel = morsel_at(task, count, kStep);
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const uint32_t v = vertices[static_cast<size_t>(i)];
        const uint32_t group = decide(v, sums);
        sums.clear();
        if (group != kStays) parts[static_cast<size_t>(task)].push_back({v, group});
      }
    });
  });
  Moves made;
  for (const Moves& part : parts) made.insert(made.end(), part.begin(), part.end());
  return made;
}

}  // namespace hr
