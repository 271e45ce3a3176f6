// SPDX-License-Identifier: Apache-2.0
// Filters moved before the tables whose rows they pick.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

namespace hr {

/// Where all that a plan reads of a table is rows that one mask picks, and the mask follows row by
/// row from columns that the table only repeats, the rows are left out before the table is made: of
/// a join's side, of what is sorted or grouped, of a file. What of an `&` cannot move picks
/// afterwards. Moves one filter; true when the plan changed. Call with the plan's mutex held.
bool push_filter(const PlanNodes& nodes);

}  // namespace hr
