// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr {

/// `x[i + 1] - x[i]` for a 1-D tensor of any stride: n - 1 elements of the same dtype, none for n
/// below 2, as `numpy.diff`. Integers wrap around, signed and unsigned; NaN gives NaN.
/// Throws TypeMismatchError unless `x` is 1-D and integer or float. O(n), one pass.
HR_API Tensor diff(const Tensor& x);

/// `x[i] - x[i - periods]` for each row of a column, as `diff` has it; null where either is, or
/// where there is no such row. `periods` may be negative. Throws TypeMismatchError
/// unless `x` has integers or floats. O(n), one pass.
HR_API Column diff(const Column& x, int64_t periods);

}  // namespace hr
