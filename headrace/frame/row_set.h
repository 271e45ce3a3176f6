// SPDX-License-Identifier: Apache-2.0
// The row set that the columns of a frame share.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string_view>

namespace hr {

/// `column` with the rows that `frame`, a column of a frame, has: itself where it belongs to these
/// rows; free-standing data of as many rows enter them. Throws InvalidArgumentError in the name of
/// `op` for any other column, naming it `name`.
HR_API NodePtr align_check(std::string_view op, std::string_view name, const NodePtr& frame,
                           const NodePtr& column);

}  // namespace hr
