// SPDX-License-Identifier: Apache-2.0
// Running sums and products along an axis.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

enum class Running : uint8_t { kSum, kProduct };

/// The sums (products) of what stands before and at each element of each line along `axis`, in the
/// dtype of the numbers: in order, so the same bits for any number of threads; NaN spreads and
/// integers wrap, as in NumPy. `initial`: one more at the beginning, 0 (1). Parallel over lines.
HR_API NodePtr cumulative_axis(Running running, const NodePtr& array, int64_t axis, bool initial);

}  // namespace hr
