// SPDX-License-Identifier: Apache-2.0
// Items of each list in another order, or once each.
#pragma once
#include "headrace/algo/sort/sort_key.h"
#include "headrace/plan/graph/node.h"

namespace hr {

/// The items of each list in order; equal ones stay as they are. About the cost of a sort of all
/// items. Throws TypeMismatchError for items that have no order.
HR_API Column list_sort(const Column& lists, const SortOrder& order);
HR_API NodePtr list_sort(const NodePtr& lists, const SortOrder& order);

/// The items of each list from the last one to the first.
HR_API Column list_reverse(const Column& lists);
HR_API NodePtr list_reverse(const NodePtr& lists);

/// The distinct items of each list in order of first appearance; all missing ones (null, NaN) are
/// one. Throws UnsupportedError for items that categories cannot have.
HR_API Column list_unique(const Column& lists);
HR_API NodePtr list_unique(const NodePtr& lists);

}  // namespace hr
