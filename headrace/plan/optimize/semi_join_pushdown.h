// SPDX-License-Identifier: Apache-2.0
// Keys that a join wants, told to the table that makes one of its sides.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

namespace hr {

/// Where all that a join reads of one side are parts of a table that nothing else needs, and it
/// keeps no row of that side without a match, it reads a table of fewer rows instead: of a
/// group-by that is told the wanted keys (`TableOperator::among`), or of joins, one after the
/// other, whose source of the key leaves out rows that the join would leave out. True when one join
/// was told; call it again then, with the nodes of the plan as they are now, and the plan's mutex
/// held.
bool push_keys(const PlanNodes& nodes);

}  // namespace hr
