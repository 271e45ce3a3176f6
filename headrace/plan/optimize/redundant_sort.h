// SPDX-License-Identifier: Apache-2.0
// Sorts whose order no consumer uses.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

namespace hr {

/// Gives advice (memory/log/advice.h) about each table of sorted rows that only reductions and
/// tables read whose results do not depend on the order of rows.
void advise_on_order(const PlanNodes& nodes);

}  // namespace hr
