// SPDX-License-Identifier: Apache-2.0
// What the steps of plans are thought to take.
#pragma once
#include "headrace/plan/node.h"

#include <span>
#include <vector>

namespace hr {

/// What an operator takes for each row of its longest input, beside the reading of its inputs and
/// the writing of its result. docs/design/plan.md has the measurements behind the figures.
struct Cost {
  double nanoseconds =
      0;             ///< of processor time, of a source for each column; 0: of a simple operation
  double bytes = 0;  ///< of memory while it runs
  int64_t source_rows = 0;  ///< that a table without inputs reads
};

/// The node, which was just made, with this cost.
HR_API NodePtr with_cost(NodePtr node, Cost cost);

/// What a step is thought to take; kUnknown where nobody can say.
struct StepCost {
  int64_t nanoseconds = kUnknown;
  int64_t memory_bytes = kUnknown;  ///< the most that it holds at once beside its inputs
};

/// One a step that `force` would take.
HR_API std::vector<StepCost> predicted_costs(std::span<const NodePtr> nodes);

}  // namespace hr
