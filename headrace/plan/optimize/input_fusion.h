// SPDX-License-Identifier: Apache-2.0
// Which inputs of a table are computed while it reads them.
#pragma once
#include "headrace/plan/graph/plan_nodes.h"

#include <memory>
#include <unordered_set>
#include <vector>

namespace hr {

/// Inputs of a table that it computes while it reads them.
struct RowPass {
  NodePtr mask{};                            ///< picks of the rows; null: all
  std::unordered_set<const Node*> inside{};  ///< that are not made
  std::vector<NodePtr> leaves{};             ///< what is read from memory
  std::vector<int64_t> values{};             ///< places of the inputs that are computed
};

/// The node that picks rows, if `node` is one or gives its rows another domain; else null.
NodePtr picked_of(const NodePtr& node);

/// `index`: the place of the table. Element-wise chains and picked rows that only the table reads;
/// null where there are none.
std::shared_ptr<const RowPass> find_row_pass(const PlanNodes& nodes, size_t index);

}  // namespace hr
