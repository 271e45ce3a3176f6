// SPDX-License-Identifier: Apache-2.0
// Categories of a column: which there are, in which order, and their values.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// The values with these categories, in this order; null where a value is none of them, as all are
/// of another dtype. Throws TypeMismatchError for a column of other than categories,
/// InvalidArgumentError for a category that is missing or comes twice.
HR_API Column set_categories(const Column& column, const Column& values, bool ordered);
HR_API NodePtr set_categories(const NodePtr& column, const NodePtr& values, bool ordered);

/// The same values with their categories sorted. Throws TypeMismatchError as above.
HR_API Column sorted_categories(const Column& column);
HR_API NodePtr sorted_categories(const NodePtr& column);

/// The same codes for other values, one for each category in the order of their codes; whether
/// they are ordered stays. Throws as above, when it runs, and for another number of values.
HR_API Column rename_categories(const Column& column, const Column& values);
HR_API NodePtr rename_categories(const NodePtr& column, const NodePtr& values);

/// Which values compare so with `value`, by the order of the categories; `value` is as they are
/// kept: a number, or the count of a time's unit. Throws TypeMismatchError, when it runs, for
/// categories without an order and for a value that is none of them.
HR_API NodePtr compare_category(Op op, const NodePtr& column, const Scalar& value);

}  // namespace hr
