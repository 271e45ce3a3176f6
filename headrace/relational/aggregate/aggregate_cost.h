// SPDX-License-Identifier: Apache-2.0
// What a group-by is thought to take: for aggregate_nodes.cpp.
#pragma once
#include "headrace/plan/graph/cost_model.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <vector>

namespace hr {

/// Groups of the rows, from a sample of the keys; the root of the rows ten times where there is
/// none.
int64_t estimate_groups(const InputEstimates& inputs, const std::vector<int64_t>& keys);

/// `keys` and the columns of the requests are places among the inputs. docs/design/plan.md has the
/// measurements behind the figures. `distinct`: only the first rows of the keys are found.
OperatorCost aggregate_cost(const InputEstimates& inputs, const std::vector<int64_t>& keys,
                            const std::vector<AggregateRequest>& requests, GroupOrder order,
                            int64_t groups, bool distinct);

}  // namespace hr
