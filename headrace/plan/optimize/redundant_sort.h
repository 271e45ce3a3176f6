// SPDX-License-Identifier: Apache-2.0
// Sorts whose order no consumer uses.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

namespace hr {

/// Gives advice (memory/log/advice.h) about each table of sorted rows that only reductions and
/// tables read whose results do not depend on the order of rows.
void advise_on_order(const PlanNodes& nodes);

/// Where a join reads a side of which no row comes twice, and these rows are those of a table that
/// nothing else reads, picked or computed row by row, the table need not have them in order: groups
/// by first rows are not sorted. Changes one join; true when the plan changed. Call with the plan's
/// mutex held.
bool drop_order(const PlanNodes& nodes);

}  // namespace hr
