// SPDX-License-Identifier: Apache-2.0
// Numbers in order.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// The numbers 0 ... `count` - 1 as int64, made when they are needed, where `near` is, or for null
/// where new values go. Throws InvalidArgumentError for a negative count.
HR_API NodePtr iota(int64_t count, const NodePtr& near);

/// The number of each row of a column, an int64 column of its rows, where it is.
NodePtr row_numbers(const NodePtr& column);

}  // namespace hr
