// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on complex numbers, as chains over their parts.
#pragma once
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// `elementwise` where an operand is complex: the real and the imaginary part are two chains that
/// run in one pass, and each result is laid out once; elementary functions are `complex_function`.
/// Operands are complex, real or bool; dtypes promote as NumPy's. Throws TypeMismatchError for
/// operations that NumPy refuses too (orders, remainders, bits).
HR_API NodePtr complex_elementwise(Op op, const std::vector<NodePtr>& operands);

/// `cast` from or to complex numbers. To a real dtype: TypeMismatchError, as the imaginary part
/// would be lost; to bool: whether it is not zero.
HR_API NodePtr complex_cast(const NodePtr& input, Dtype dtype);

/// Complex conjugates.
HR_API NodePtr conjugate(const NodePtr& array);

}  // namespace hr
