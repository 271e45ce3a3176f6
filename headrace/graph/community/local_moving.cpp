// SPDX-License-Identifier: Apache-2.0
// Sub-rounds: vertices decide on one snapshot, then all of them move.
#include "headrace/graph/community/local_moving.h"

#include "headrace/exec/interrupt.h"
#include "headrace/graph/community/sub_rounds.h"

#include <algorithm>
#include <atomic>
#include <span>

namespace hr {

namespace {

constexpr uint32_t kRounds = 20;       // of moving
constexpr uint32_t kRefineRounds = 4;  // then parts that grew have taken what they can

using Vertices = BudgetedVector<uint32_t>;

// Adds the weights of v to the groups of its neighbours, itself left out.
void add_neighbors(const WeightedRows& rows, uint32_t v, const Vertices& groups, GroupSums& sums) {
  for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) {
    const auto at = static_cast<size_t>(i);
    if (rows.targets[at] != v) sums.add(groups[rows.targets[at]], rows.weights[at]);
  }
}

class Moving {
 public:
  Moving(const WeightedRows& rows, Resolution resolution, Vertices& groups)
      : rows_(rows),
        resolution_(resolution),
        groups_(groups),
        pool_(GroupSums::pool(rows.vertices())) {
    const auto vertices = static_cast<size_t>(rows.vertices());
    degrees_.resize(vertices);
    sizes_.resize(vertices);
    active_.assign(vertices, 1);
    for (size_t v = 0; v < vertices; ++v) {
      degrees_[groups[v]] += rows.degrees[v];
      ++sizes_[groups[v]];
    }
  }

  int64_t round(RandomKey key, int slices) {
    int64_t moved = 0;
    const auto turns =
        draw_sub_rounds(rows_.vertices(), key, [&](uint32_t v) { return active_[v] != 0; }, slices);
    for (const Vertices& vertices : turns) {
      look_for_interrupt();
      const Moves moves =
          decide_all(vertices, pool_, [&](uint32_t v, GroupSums& sums) { return best(v, sums); });
      for (const Move& move : moves) {
        uint32_t& group = groups_[move.vertex];
        degrees_[group] -= rows_.degrees[move.vertex];
        --sizes_[group];
        group = move.group;
        degrees_[group] += rows_.degrees[move.vertex];
        ++sizes_[group];
      }
      wake(moves);
      moved += static_cast<int64_t>(moves.size());
    }
    return moved;
  }

 private:
  uint32_t best(uint32_t v, GroupSums& sums) {
    active_[v] = 0;
    add_neighbors(rows_, v, groups_, sums);
    const uint32_t own = groups_[v];
    const int64_t degree = rows_.degrees[v];
    double most = resolution_.gain(sums.of(own), degree, degrees_[own] - degree);
    uint32_t chosen = own;
    for (const uint32_t group : sums.used()) {
      if (group == own) continue;
      // Two that are alone would change places for ever.
      if (sizes_[own] == 1 && sizes_[group] == 1 && group > own) continue;
      const double gain = resolution_.gain(sums.of(group), degree, degrees_[group]);
      if (gain > most || (gain == most && chosen != own && group < chosen)) {
        most = gain;
        chosen = group;
      }
    }
    return chosen == own ? kStays : chosen;
  }

  // Neighbours elsewhere decide anew.
  void wake(const Moves& moves) {
    parallel_vertices(static_cast<int64_t>(moves.size()), [&](Morsel morsel) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const Move move = moves[static_cast<size_t>(i)];
        for (int64_t j = rows_.offsets[move.vertex]; j < rows_.offsets[move.vertex + 1]; ++j) {
          const uint32_t target = rows_.targets[static_cast<size_t>(j)];
          if (groups_[target] != move.group)
            std::atomic_ref(active_[target]).store(1, std::memory_order_relaxed);
        }
      }
    });
  }

  const WeightedRows& rows_;
  Resolution resolution_;
  Vertices& groups_;
  ScratchPool<GroupSums> pool_;
  BudgetedVector<int64_t> degrees_{};  // of groups
  BudgetedVector<int64_t> sizes_{};
  BudgetedVector<uint8_t> active_{};
};

class Refining {
 public:
  Refining(const WeightedRows& rows, Resolution resolution, const Vertices& groups)
      : rows_(rows),
        resolution_(resolution),
        groups_(groups),
        pool_(GroupSums::pool(rows.vertices())) {
    const auto vertices = static_cast<size_t>(rows.vertices());
    parts_.resize(vertices);
    sizes_.assign(vertices, 1);
    wanted_.assign(vertices, kStays);
    outside_.resize(vertices);
    degrees_.assign(rows.degrees.begin(), rows.degrees.end());
    of_groups_.resize(vertices);
    for (size_t v = 0; v < vertices; ++v) {
      parts_[v] = static_cast<uint32_t>(v);
      of_groups_[groups[v]] += rows.degrees[v];
    }
    parallel_vertices(rows.vertices(), [&](Morsel morsel) {
      for (auto v = static_cast<size_t>(morsel.begin); v < static_cast<size_t>(morsel.end); ++v)
        outside_[v] = within_group(static_cast<uint32_t>(v));
    });
  }

  int64_t round(RandomKey key) {
    int64_t moved = 0;
    const auto turns = draw_sub_rounds(rows_.vertices(), key, [&](uint32_t v) {
      return parts_[v] == v && sizes_[v] == 1 && is_well_connected(v, v);
    });
    for (const Vertices& vertices : turns) {
      look_for_interrupt();
      const Moves moves =
          decide_all(vertices, pool_, [&](uint32_t v, GroupSums& sums) { return best(v, sums); });
      for (const Move& move : moves) wanted_[move.vertex] = move.group;
      for (const Move& move : moves) moved += join(move);
      for (const Move& move : moves) wanted_[move.vertex] = kStays;
    }
    return moved;
  }

  Vertices take() { return std::move(parts_); }

 private:
  // The weight of v to the others of its group.
  int64_t within_group(uint32_t v) const {
    int64_t sum = 0;
    for (int64_t i = rows_.offsets[v]; i < rows_.offsets[v + 1]; ++i) {
      const uint32_t target = rows_.targets[static_cast<size_t>(i)];
      if (target != v && groups_[target] == groups_[v])
        sum += rows_.weights[static_cast<size_t>(i)];
    }
    return sum;
  }

  // Whether a part has the weight to the rest of its group that chance would give.
  bool is_well_connected(uint32_t part, uint32_t v) const {
    return resolution_.gain(outside_[part], degrees_[part],
                            of_groups_[groups_[v]] - degrees_[part]) >= 0;
  }

  uint32_t best(uint32_t v, GroupSums& sums) const {
    // Its part may have grown since the round was drawn.
    if (sizes_[v] != 1) return kStays;
    for (int64_t i = rows_.offsets[v]; i < rows_.offsets[v + 1]; ++i) {
      const uint32_t target = rows_.targets[static_cast<size_t>(i)];
      if (target != v && groups_[target] == groups_[v])
        sums.add(parts_[target], rows_.weights[static_cast<size_t>(i)]);
    }
    double most = 0;
    uint32_t chosen = kStays;
    for (const uint32_t part : sums.used()) {
      if (!is_well_connected(part, v)) continue;
      const double gain = resolution_.gain(sums.of(part), rows_.degrees[v], degrees_[part]);
      if (gain > most || (gain == most && chosen != kStays && part < chosen)) {
        most = gain;
        chosen = part;
      }
    }
    return chosen;
  }

  // Whether it could: a vertex about to leave is not joined; of two that want each other one is.
  bool join(Move move) {
    const uint32_t v = move.vertex;
    const uint32_t other = wanted_[move.group];
    if (other != kStays && (other != v || v < move.group)) return false;
    int64_t between = 0;
    for (int64_t i = rows_.offsets[v]; i < rows_.offsets[v + 1]; ++i) {
      const uint32_t target = rows_.targets[static_cast<size_t>(i)];
      if (target != v && parts_[target] == move.group && groups_[target] == groups_[v])
        between += rows_.weights[static_cast<size_t>(i)];
    }
    parts_[v] = move.group;
    sizes_[v] = 0;
    ++sizes_[move.group];
    degrees_[move.group] += rows_.degrees[v];
    outside_[move.group] += outside_[v] - 2 * between;
    return true;
  }

  const WeightedRows& rows_;
  Resolution resolution_;
  const Vertices& groups_;
  ScratchPool<GroupSums> pool_;
  Vertices parts_{};
  Vertices wanted_{};                    // where vertices of this sub-round go
  BudgetedVector<int64_t> sizes_{};      // of parts
  BudgetedVector<int64_t> degrees_{};    // of parts
  BudgetedVector<int64_t> outside_{};    // weights of parts to the rest of their group
  BudgetedVector<int64_t> of_groups_{};  // degrees
};

}  // namespace

int64_t move_vertices(const WeightedRows& rows, Resolution resolution, const MoveRules& rules,
                      Vertices& groups) {
  Moving moving(rows, resolution, groups);
  int64_t moved = 0;
  for (uint32_t i = 0; i < kRounds; ++i) {
    const int64_t now = moving.round({rules.seed, i}, i == 0 ? rules.slices : 1);
    moved += now;
    if (now <= rows.vertices() / rules.stop) break;
  }
  return moved;
}

Vertices refine(const WeightedRows& rows, Resolution resolution, uint64_t seed,
                const Vertices& groups) {
  Refining refining(rows, resolution, groups);
  for (uint32_t i = 0; i < kRefineRounds; ++i)
    if (refining.round({seed, kRounds + i}) == 0) break;
  return refining.take();
}

namespace {

double modularity_of(std::span<const int64_t> within, std::span<const int64_t> degrees,
                     const WeightedRows& rows, double resolution) {
  double sum = 0;
  for (size_t first = 0; first < within.size(); first += kModularityPiece) {
    double piece = 0;
    for (size_t g = first; g < std::min(first + kModularityPiece, within.size()); ++g)
      piece += modularity_share(within[g], degrees[g], rows.total, resolution);
    sum += piece;
  }
  return sum;
}

}  // namespace

double modularity(const WeightedRows& rows, double resolution, const Vertices& groups) {
  BudgetedVector<int64_t> within(groups.size()), degrees(groups.size());
  for (size_t v = 0; v < groups.size(); ++v) {
    degrees[groups[v]] += rows.degrees[v];
    for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i)
      if (groups[rows.targets[static_cast<size_t>(i)]] == groups[v])
        within[groups[v]] += rows.weights[static_cast<size_t>(i)];
  }
  return modularity_of(within, degrees, rows, resolution);
}

double modularity_alone(const WeightedRows& rows, double resolution) {
  BudgetedVector<int64_t> loops(rows.degrees.size());
  parallel_vertices(rows.vertices(), [&](Morsel morsel) {
    for (auto v = static_cast<uint32_t>(morsel.begin); v < static_cast<uint64_t>(morsel.end); ++v) {
      const auto row = std::span(rows.targets)
                           .subspan(static_cast<size_t>(rows.offsets[v]),
                                    static_cast<size_t>(rows.offsets[v + 1] - rows.offsets[v]));
      const auto [first, last] = std::equal_range(row.begin(), row.end(), v);
      for (auto at = first; at != last; ++at)
        loops[v] += rows.weights[static_cast<size_t>(rows.offsets[v] + (at - row.begin()))];
    }
  });
  return modularity_of(loops, rows.degrees, rows, resolution);
}

}  // namespace hr
