// SPDX-License-Identifier: Apache-2.0
// Functions of each list of a list column. All throw TypeMismatchError for other columns.
#pragma once
#include "headrace/plan/graph/node.h"

#include <optional>
#include <string>

namespace hr {

/// The number of items of each list, or of entries of each map, nulls included: int64; null where
/// the list is.
HR_API Column list_length(const Column& lists);
HR_API NodePtr list_length(const NodePtr& lists);

/// The item at a position of each list, from its end if negative; null where there is none.
HR_API Column list_item(const Column& lists, int64_t position);
HR_API NodePtr list_item(const NodePtr& lists, int64_t position);

/// Items [begin, end) of each list, from its end if negative, as lists over the same items.
HR_API Column list_slice(const Column& lists, std::optional<int64_t> begin,
                         std::optional<int64_t> end);
HR_API NodePtr list_slice(const NodePtr& lists, std::optional<int64_t> begin,
                          std::optional<int64_t> end);

/// The strings of each list with `separator` between them; null where the list or one of them is.
HR_API Column list_join(const Column& lists, const std::string& separator);
HR_API NodePtr list_join(const NodePtr& lists, const std::string& separator);

/// Whether one of the items of each list is `value`, one row of their dtype that is not null; 0.0
/// is -0.0, NaN is nothing. False where the list is null. Throws TypeMismatchError for items that
/// are nested or complex and for a value of another dtype.
HR_API Column list_contains(const Column& lists, const Column& value);
HR_API NodePtr list_contains(const NodePtr& lists, const Column& value);

}  // namespace hr
