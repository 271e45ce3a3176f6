// SPDX-License-Identifier: Apache-2.0
// Hands a group of element-wise chains to the evaluator as one program.
#pragma once
#include "headrace/plan/execute/physical_plan.h"
#include "headrace/plan/graph/placement.h"

#include <vector>

namespace hr {

/// Numbers become 0-d arrays, all in one buffer.
void make_tensors(std::vector<Value>& values);

/// Values of `step.outputs`, computed in one pass over `step.inputs`.
std::vector<Value> run_fused_pass(const PlanStep& step);

/// Runs a table with inputs that it computes itself, for the columns with true in `wanted`.
Table run_row_pass(const PlanStep& step, const std::vector<bool>& wanted,
                   const PlaceWork& in_slices);

}  // namespace hr
