// SPDX-License-Identifier: Apache-2.0
// Group-by that keeps only the keys that a later join has.
#pragma once
#include "headrace/relational/aggregate/fused_aggregate.h"

#include <span>
#include <tuple>
#include <vector>

namespace hr {

/// Places of a key and of the values that it should be one of; these may have any number of rows.
struct SemiJoinKey {
  int64_t key = 0;
  int64_t place = 0;

  static auto parameters(auto& self) { return std::tie(self.key, self.place); }
};

/// `group_by` that may leave out groups with a key that is not in its set, and does so where a set
/// is small and a sample of the rows says that most of them go: they are left out before they are
/// folded. That and the order of float sums of few groups depend on the data alone.
Grouped semi_join_aggregate(std::span<const Value> given, const std::vector<int64_t>& keys,
                            const std::vector<SemiJoinKey>& sets,
                            std::vector<AggregateRequest> requests, GroupOptions options);
Grouped semi_join_aggregate(const RowInputs& given, const std::vector<int64_t>& keys,
                            const std::vector<SemiJoinKey>& sets,
                            const std::vector<AggregateRequest>& requests, GroupOptions options);

}  // namespace hr
