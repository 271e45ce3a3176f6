// SPDX-License-Identifier: Apache-2.0
// Which inputs of a step are computed while it reads them.
#pragma once
#include "headrace/plan/graph/plan_nodes.h"

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hr {

/// Inputs of a table, or picked rows of a fused pass, that it computes while it reads them.
struct RowPass {
  NodePtr mask{};                            ///< picks of the rows; null: all
  bool computes_mask = false;                ///< reductions only: nothing else reads it
  std::unordered_set<const Node*> inside{};  ///< that are not made
  std::vector<NodePtr> leaves{};             ///< what a table reads from memory
  std::vector<int64_t> values{};             ///< places of a table's inputs that are computed
};

/// The node that picks rows, if `node` is one or gives its rows another domain; else null.
NodePtr picked_of(const NodePtr& node);

/// `index`: the place of the table. Element-wise chains and picked rows that only the table reads;
/// null where there are none.
std::shared_ptr<const RowPass> find_row_pass(const PlanNodes& nodes, size_t index);

/// Picked rows that only fused passes read, which then pick them themselves, with what picks them
/// (see `picked_of`). Rows of one domain have one mask. `others` are computed by tables.
std::unordered_map<const Node*, NodePtr> find_picks(const PlanNodes& nodes,
                                                    const std::unordered_set<const Node*>& others);

/// Columns of tables, and rows that masks pick, that only tables read which repeat them: these are
/// given row numbers instead (`LateColumn`), and only what the last of them yields is made.
std::unordered_set<const Node*> find_late(const PlanNodes& nodes);

/// The nodes that are made for a late column: those that its rows are picked of, and the mask; the
/// column of a table itself.
std::vector<NodePtr> late_sources(const NodePtr& node);

}  // namespace hr
