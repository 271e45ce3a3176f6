// SPDX-License-Identifier: Apache-2.0
// Deferred group-by.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <string>
#include <vector>

namespace hr {

/// One column of the result: an aggregate of `values` (null for those that take none).
struct GroupColumn {
  std::string name{};
  AggregateRequest request{};  ///< its columns are not used
  NodePtr values{};
  NodePtr other{};
};

struct GroupKey {
  std::string name{};
  NodePtr values{};
};

/// A table of the keys, then the aggregates; only what the wanted columns need is read and folded.
/// Throws InvalidArgumentError when columns belong to different frames, have different lengths or
/// share a name, or for a ddof or quantile out of range; TypeMismatchError as `aggregate_dtype`.
HR_API NodePtr group_by(std::vector<GroupKey> keys, std::vector<GroupColumn> columns,
                        GroupOptions options);

/// How many distinct values there are, an array without dimensions. Missing values are one each, or
/// none. Throws TypeMismatchError as `group_by`.
HR_API NodePtr count_distinct(const NodePtr& column, bool drop_missing);

/// The `count` largest (or smallest) values of each group, best first, one row each: the keys next
/// to a column `name`. Missing values are none. Throws as `group_by`; InvalidArgumentError
/// unless `count` is 1 to kMostTop.
HR_API NodePtr group_top(std::vector<GroupKey> keys, const std::string& name, const NodePtr& values,
                         int64_t count, bool largest, GroupOptions options);

/// An aggregate of each row's group, a column of the rows of `values`; null where a key is missing
/// and these rows are left out.
HR_API NodePtr group_transform(const std::vector<NodePtr>& keys, const GroupColumn& column,
                               GroupOptions options);

}  // namespace hr
