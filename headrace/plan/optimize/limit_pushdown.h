// SPDX-License-Identifier: Apache-2.0
// First rows asked for before the tables that have them are made.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

namespace hr {

/// Where a plan reads only the first rows of something, makes these by the shorter way that there
/// is once filters have moved: a file is read until that number of its rows has passed. What others
/// read too stays whole. True when the plan changed. Call with the plan's mutex held.
bool push_first_rows(const PlanNodes& nodes);

}  // namespace hr
