// SPDX-License-Identifier: Apache-2.0
// Which inputs of a table are computed while it reads them.
#pragma once
#include "headrace/plan/planner.h"

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hr {

using NodeUsers = std::unordered_map<const Node*, std::vector<const Node*>>;

/// The node that picks rows, if `node` is one or gives its rows another domain; else null.
NodePtr picked_of(const NodePtr& node);

/// `order`: the nodes of a plan, inputs before users, `index` the place of the table; `needed`: its
/// inputs that the plan reads. Element-wise chains and picked rows that only the table reads; null
/// where there are none.
std::shared_ptr<const RowPass> find_row_pass(std::span<const NodePtr> order, size_t index,
                                             const std::vector<NodePtr>& needed,
                                             const NodeUsers& users,
                                             const std::unordered_set<const Node*>& roots);

}  // namespace hr
