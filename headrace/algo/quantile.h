// SPDX-License-Identifier: Apache-2.0
// Quantiles by selection.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <span>

namespace hr {

/// The quantiles `q` (each in [0, 1]) of the values that are neither null nor NaN, as a float64
/// tensor; between the two nearest ranks as `interpolate` of quantile_math.h. NaN when there are no
/// values. O(n) per distinct quantile on a scratch copy. Throws TypeMismatchError unless integer or
/// float, InvalidArgumentError for a q outside [0, 1].
HR_API Tensor quantile(const Column& column, std::span<const double> q);

}  // namespace hr
