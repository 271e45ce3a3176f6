// SPDX-License-Identifier: Apache-2.0
// Filters moved before rows that are put one behind the other, or are the first of equal ones.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

namespace hr {

/// As `push_filter` for columns that are no table's: those that concatenate the columns of the same
/// parts, of which each is filtered then; and the first rows of groups, filtered by the groups'
/// keys.
bool push_past_rows(const PlanNodes& nodes);

}  // namespace hr
