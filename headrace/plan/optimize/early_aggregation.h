// SPDX-License-Identifier: Apache-2.0
// Groups of joined rows, aggregated before the join.
#pragma once
#include "headrace/plan/graph/plan_nodes.h"

namespace hr {

/// A group-by.
class GroupsRows {
 public:
  virtual ~GroupsRows() = default;

  /// Of inputs that are all columns of `join`: the same groups, of a join whose right side is
  /// grouped by its keys first; null where that would not have the same bits.
  virtual NodePtr grouped_before(std::span<const NodePtr> inputs, const Node& join) const = 0;
};

/// Where a group-by is all that reads the rows of a join, and takes its keys from the left side and
/// its values from a right side of many more rows, it reads a join with groups of these rows
/// instead, as in "eager aggregation" (Yan and Larson, VLDB 1995). True when one group-by was
/// changed; call it again then, with the nodes of the plan as they are now, and the plan's mutex
/// held.
bool aggregate_early(const PlanNodes& nodes);

/// Whether the right side of a join has several times the rows of the left one, so that grouping
/// them first costs less.
bool has_many_more_right_rows(const Node& join);

}  // namespace hr
