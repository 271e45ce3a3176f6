// SPDX-License-Identifier: Apache-2.0
// The optimizer: a list of passes over a logical plan.
#pragma once
#include "headrace/plan/optimize/logical_plan.h"

#include <functional>
#include <string_view>

namespace hr {

/// Called after each pass with its name, and before the first with "plan".
using AfterPass = std::function<void(std::string_view pass, const LogicalPlan& plan)>;

/// Runs the passes, in order. Results stay the same, bit for bit.
void optimize(LogicalPlan& plan, const AfterPass& after = {});

}  // namespace hr
