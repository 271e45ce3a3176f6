// SPDX-License-Identifier: Apache-2.0
// Numbers from strings.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// The number that each text is, as `dtype`, integer or float; null stays null. Blanks around it
/// are left out; decimal digits with sign, point and exponent, "inf", "infinity" and "nan" in any
/// case. Floats are correctly rounded. A string that is not a number, or one that the dtype cannot
/// hold: null with `or_null`, else InvalidArgumentError naming row and text. Of categories each row
/// is read. About 20 ns a row and core.
HR_API Column parse_numbers(const Column& column, Dtype dtype, bool or_null);
/// Throws TypeMismatchError unless the column has strings and the dtype is numeric.
HR_API NodePtr parse_numbers(const NodePtr& column, Dtype dtype, bool or_null);

}  // namespace hr
