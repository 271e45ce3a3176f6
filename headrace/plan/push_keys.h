// SPDX-License-Identifier: Apache-2.0
// Keys that a join wants, told to the table that makes one of its sides.
#pragma once
#include "headrace/plan/row_pass.h"

#include <span>
#include <unordered_set>

namespace hr {

/// Where all that a join without unmatched rows reads of one side are parts of a table that nobody
/// else wants, and that can be made of some keys only (`TableOperator::among`), it reads such a
/// table instead. True when some plan changed. Call with the plan's mutex held.
bool push_keys(std::span<const NodePtr> order, const NodeUsers& users,
               const std::unordered_set<const Node*>& roots);

}  // namespace hr
