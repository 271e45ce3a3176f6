// SPDX-License-Identifier: Apache-2.0
// Integers from floats.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// Floats cut towards zero, as integers of `dtype`; null stays null. Throws InvalidArgumentError
/// with the row of NaN and of what the dtype does not hold, when it runs. About 1 ns a row and
/// core.
HR_API Column float_to_int(const Column& column, Dtype dtype);
HR_API NodePtr float_to_int(const NodePtr& column, Dtype dtype);

}  // namespace hr
