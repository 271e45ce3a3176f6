// SPDX-License-Identifier: Apache-2.0
// Filters moved before concat and drop_duplicates.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

namespace hr {

/// As `push_filter` for columns that are not of a table: those that concatenate the columns of the
/// same parts, of which each is filtered then; and the first rows of groups, filtered by the
/// groups' keys.
bool push_past_rows(const PlanNodes& nodes);

}  // namespace hr
