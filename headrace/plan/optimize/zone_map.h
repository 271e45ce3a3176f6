// SPDX-License-Identifier: Apache-2.0
// What bounds of columns tell of tests of their rows.
#pragma once
#include "headrace/plan/optimize/scan_predicate.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace hr {

/// What is known of a column in groups of rows, by group: nothing where a value is null.
struct ColumnBounds {
  Column least{};  ///< no value is less; of the column's dtype, of categories their texts
  Column most{};   ///< no value is greater
  Column nulls{};  ///< how many values are null (int64)
};

/// Whether all predicates may be true of some row of a group; true if in doubt. `rows`: of each
/// group (int64); `bounds`: of a column, by place. NaN lies outside of all bounds.
HR_API std::vector<bool> prune_row_groups(
    std::span<const std::shared_ptr<const RowPredicate>> predicates, const Column& rows,
    const std::function<ColumnBounds(int64_t)>& bounds, std::span<const Value> others);

/// Of a test of one column's values: whether it may be true of one that is not less than `least`
/// and not greater than `most`; null where nobody knows. Both are of the column's dtype, of
/// categories their texts.
using MayBeTrue = std::function<NodePtr(const NodePtr& least, const NodePtr& most)>;

/// The test, which was just made, with what bounds tell of it.
HR_API NodePtr with_bounds(NodePtr test, MayBeTrue may_be_true);
/// The same of a comparison with a constant; `compare` makes that of a bound.
HR_API NodePtr with_bounds(NodePtr test, Op op, std::function<NodePtr(Op, const NodePtr&)> compare);

/// A row-by-row operator on one column, which was just made, of whose results none is less than
/// that of a lesser value.
HR_API NodePtr keeping_order(NodePtr node);

/// Whether a node is there, or at most one step over values that are. For the holder of the plan's
/// mutex.
HR_API bool is_known(const NodePtr& node);

}  // namespace hr
