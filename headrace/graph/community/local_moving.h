// SPDX-License-Identifier: Apache-2.0
// The steps of Louvain and Leiden: vertices move to better communities, communities are refined.
#pragma once
#include "headrace/base/api.h"
#include "headrace/graph/structure/weighted_rows.h"

namespace hr {

/// What vertices gain by: weight to a group, less what chance would give.
struct Resolution {
  double per_total = 0;  ///< resolution over the weight of all rows

  HR_BOTH double gain(int64_t weight, int64_t degree, int64_t group) const {
    return static_cast<double>(weight) -
           per_total * static_cast<double>(degree) * static_cast<double>(group);
  }
};

/// What a group adds to the modularity: sums go over pieces of this size, then over pieces.
inline constexpr size_t kModularityPiece = 1 << 7;

HR_BOTH inline double modularity_share(int64_t within, int64_t degree, int64_t total,
                                       double resolution) {
  const auto all = static_cast<double>(total);
  const double share = static_cast<double>(degree) / all;
  return static_cast<double>(within) / all - resolution * share * share;
}

/// MoveRules::stop. Vertices of Louvain move again on the way
/// down its levels: 1000 took 1.5 times as long there for 0.2 % more modularity.
inline constexpr int64_t kLeidenStop = 1000, kLouvainStop = 64;

struct MoveRules {
  uint64_t seed;   ///< of the sub-rounds, whose vertices decide on the same groups
  int64_t stop;    ///< the last round moves at most one vertex in this many
  int slices = 1;  ///< of the first round; kSlices where vertices are alone
};

/// Moves vertices to the groups of neighbours where they gain most, ties to the least; groups are
/// ids below the number of vertices. Returns how many moved.
int64_t move_vertices(const WeightedRows& rows, Resolution resolution, const MoveRules& rules,
                      BudgetedVector<uint32_t>& groups);

/// Connected parts of groups: vertices that are alone join the part of their group where they gain
/// most. A part is an id of one of its vertices.
BudgetedVector<uint32_t> refine(const WeightedRows& rows, Resolution resolution, uint64_t seed,
                                const BudgetedVector<uint32_t>& groups);

/// Sum over groups of (weight within - resolution * degree^2 / total) / total.
double modularity(const WeightedRows& rows, double resolution,
                  const BudgetedVector<uint32_t>& groups);

/// The same of vertices that are groups of their own.
double modularity_alone(const WeightedRows& rows, double resolution);

}  // namespace hr
