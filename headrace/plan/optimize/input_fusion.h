// SPDX-License-Identifier: Apache-2.0
// Which inputs of a table are computed while it reads them.
#pragma once
#include "headrace/plan/graph/plan_nodes.h"
#include "headrace/plan/optimize/planner.h"

#include <memory>

namespace hr {

/// The node that picks rows, if `node` is one or gives its rows another domain; else null.
NodePtr picked_of(const NodePtr& node);

/// `index`: the place of the table. Element-wise chains and picked rows that only the table reads;
/// null where there are none.
std::shared_ptr<const RowPass> find_row_pass(const PlanNodes& nodes, size_t index);

}  // namespace hr
