// SPDX-License-Identifier: Apache-2.0
// Quantiles across columns.
#pragma once
#include "headrace/algo/reduce/quantile.h"
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// The quantile `q` of the values of each row that are neither null nor NaN, as `quantile` of a
/// column: float64, null for none. `columns`: float64, at least one, of the same rows. Throws
/// TypeMismatchError for another dtype, InvalidArgumentError for other rows or a q outside [0, 1].
HR_API NodePtr row_quantile(const std::vector<NodePtr>& columns, double q,
                            Interpolation interpolation);

}  // namespace hr
