// SPDX-License-Identifier: Apache-2.0
// A group-by of joined rows, made of groups that are joined.
#pragma once
#include "headrace/plan/graph/operator.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <span>
#include <string>
#include <vector>

namespace hr {

/// A group-by as its operator has it: `keys` and the columns of `requests` are places of `inputs`.
struct GroupsOfJoin {
  std::span<const std::string> names;
  std::span<const NodePtr> inputs;
  std::span<const int64_t> keys;
  std::span<const AggregateRequest> requests;
  GroupOptions options{};
};

/// The same groups, of a join whose right side is grouped by its keys first: parts of groups merge
/// to the same bits. All inputs are columns of `join`. Null where the keys are not of the left
/// side, the values not of the right one, or an aggregate has no parts: floats are rounded.
NodePtr group_before_join(const GroupsOfJoin& groups, const Node& join);

}  // namespace hr
