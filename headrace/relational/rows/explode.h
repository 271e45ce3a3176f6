// SPDX-License-Identifier: Apache-2.0
// A row for each item of lists.
#pragma once
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// Rows of a frame for each item of lists.
struct Exploded {
  NodePtr rows;                ///< int64: the row that each is from, for `take`
  std::vector<NodePtr> items;  ///< of each column
};

/// The items of list or map columns of the same frame, one row each, in order; a null or empty list
/// gives one row of null. The items are shared where the lists have them one after the other.
/// Throws TypeMismatchError for a column of another dtype; when it runs, InvalidArgumentError for
/// lists of different lengths in one row.
HR_API Exploded explode(const std::vector<NodePtr>& lists);

}  // namespace hr
