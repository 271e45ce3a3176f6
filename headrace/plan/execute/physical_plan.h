// SPDX-License-Identifier: Apache-2.0
// Cuts the graph above some roots into steps: one opaque operator or one fused pass each.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"
#include "headrace/plan/optimize/optimize.h"

#include <memory>
#include <utility>
#include <vector>

namespace hr {

/// One pass: an operator, a table with the columns that are needed, or a group of element-wise
/// chains and reductions over the same rows.
struct PlanStep {
  std::vector<NodePtr> outputs;                     ///< nodes that get a value
  std::vector<NodePtr> inputs;                      ///< materialised nodes that it reads
  std::vector<std::pair<NodePtr, NodePtr>> same{};  ///< nodes, and the output with their value
  int passes = 1;
  std::shared_ptr<const RowPass> rows{};  ///< of a step that computes what it reads
  /// Inputs and outputs of a table that are rows of other columns (see `find_late`).
  std::unordered_set<const Node*> late{};
  bool whole_table = false;  ///< the table itself is needed, not only the columns in `outputs`
};

/// Outputs of a fused pass: the values in hand of more leave the caches.
inline constexpr size_t kMostOutputs = 1024;

/// Whether one pass may make two fusable nodes.
bool are_in_one_pass(const NodePtr& a, const NodePtr& b);

/// Whether the pass over the rows of a fusable node may make an input too, without a buffer for it.
bool may_be_in_pass_of(const NodePtr& node, const NodePtr& input);

/// The place that a step runs at.
Place place_of(const PlanStep& step);

/// Which columns of its table the step makes; none of another step.
std::vector<bool> wanted_columns(const PlanStep& step);

/// Steps of an optimized plan in the order of execution. They follow from the plan and the memory
/// limit alone. Call with `plan_mutex` held.
std::vector<PlanStep> plan_steps(const LogicalPlan& plan);
/// The same of nodes, which nothing changes: what running them would do.
std::vector<PlanStep> plan_steps(std::span<const NodePtr> roots);

}  // namespace hr
