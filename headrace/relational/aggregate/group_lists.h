// SPDX-License-Identifier: Apache-2.0
// The values of groups as lists.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// The values of each group as a list, in the order of their rows. `numbers`: int64, the group of
/// each row, null for none; `groups`: a column with a row for each group, in order.
HR_API Column group_lists(const Column& values, const Column& numbers, int64_t groups);
HR_API NodePtr group_lists(const NodePtr& values, const NodePtr& numbers, const NodePtr& groups);

}  // namespace hr
