// SPDX-License-Identifier: Apache-2.0
// Group-by that filters and computes its inputs while it reads them.
#pragma once
#include "headrace/plan/execute/fused_inputs.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <span>
#include <vector>

namespace hr {

/// `group_by` of columns among `values`: those at `keys` and where the requests say; the rest may
/// be empty.
Grouped group_by(std::span<const Value> values, const std::vector<int64_t>& keys,
                 std::vector<AggregateRequest> requests, GroupOptions options);

/// `group_by` of the columns that `inputs.made()` would give, with the same bits: those at `keys`
/// and, for the requests, at the places that these name. Where the groups are few and the mask
/// picks a quarter of the rows or more, nothing is made: a block is computed, and each row is
/// folded or left out where it lies. Else the inputs are made first. Costs no memory but the groups
/// then.
Grouped group_by(const RowInputs& inputs, const std::vector<int64_t>& keys,
                 const std::vector<AggregateRequest>& requests, GroupOptions options);

}  // namespace hr
