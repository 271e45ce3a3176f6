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
  Column least{};  ///< no value is less; of the column's dtype, of categories their strings
  Column most{};   ///< no value is greater
  Column nulls{};  ///< how many values are null (int64)
};

/// Whether all predicates may be true of some row of a group; true if in doubt. `rows`: of each
/// group (int64); `bounds`: of a column, by place. NaN lies outside of all bounds.
HR_API std::vector<bool> prune_row_groups(
    std::span<const std::shared_ptr<const RowPredicate>> predicates, const Column& rows,
    const std::function<ColumnBounds(int64_t)>& bounds, std::span<const Value> others);

/// Whether a value between two may compare so with what `compare` compares one of them with: for
/// `Operator::may_be_true` of comparisons with a constant.
HR_API NodePtr may_compare(Op op, const NodePtr& least, const NodePtr& most,
                           const std::function<NodePtr(Op, const NodePtr&)>& compare);

}  // namespace hr
