// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// `x[i + 1] - x[i]` for a 1-D tensor of any stride: n - 1 elements of the same dtype, none for n
/// below 2, as `numpy.diff`. Integers wrap around, signed and unsigned; NaN gives NaN.
/// Throws TypeMismatchError unless `x` is 1-D and integer or float. O(n), one pass.
HR_API Tensor diff(const Tensor& x);

}  // namespace hr
