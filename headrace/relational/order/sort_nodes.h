// SPDX-License-Identifier: Apache-2.0
// Deferred sorting of rows.
#pragma once
#include "headrace/algo/sort/sort_key.h"
#include "headrace/plan/graph/node.h"

#include <string>
#include <vector>

namespace hr {

/// A table of `columns`, named `names`, in the order of `keys` (see sort_rows). It reads the keys,
/// and of the columns those that are needed; its first rows come by first_rows. Throws
/// InvalidArgumentError when keys and columns have different rows, or none is a key;
/// TypeMismatchError for what has no rows or no order.
HR_API NodePtr sort(const std::vector<NodePtr>& keys, const std::vector<SortOrder>& orders,
                    std::vector<std::string> names, const std::vector<NodePtr>& columns);

/// The rows' numbers in that order, an int64 array; only the `first` first ones unless negative.
HR_API NodePtr argsort(const std::vector<NodePtr>& keys, const std::vector<SortOrder>& orders,
                       int64_t first = -1);

}  // namespace hr
