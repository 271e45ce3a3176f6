// SPDX-License-Identifier: Apache-2.0
// Where the steps of a plan over the host's data run: on the device that `auto_place` allows too,
// where that makes the whole plan faster.
#pragma once
#include "headrace/plan/execute/physical_plan.h"

#include <span>

namespace hr {

/// Moves nodes of an optimized plan to the device, with what they read, and brings back what the
/// host reads. Roots keep their places. Nothing changes without a device, in a plan over less than
/// 100,000 rows, and in one whose data lie on a device already: there the caller chose.
void choose_places(LogicalPlan& plan);

/// Whether a plan of these steps might have some on the device: then it has to be made.
bool may_have_places(std::span<const PlanStep> steps);

}  // namespace hr
