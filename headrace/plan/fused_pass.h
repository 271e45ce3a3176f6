// SPDX-License-Identifier: Apache-2.0
// Hands a group of element-wise chains to the evaluator as one program.
#pragma once
#include <vector>

#include "headrace/plan/planner.h"

namespace hr {

/// Values of `step.outputs`, computed in one pass over `step.inputs`.
std::vector<Value> run_fused_pass(const PlanStep& step);

}  // namespace hr
