// SPDX-License-Identifier: Apache-2.0
// Views with repeated and with new axes.
#pragma once
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// The array as one of `shape` without a copy: axis i of the array is axis `axes[i]` of the result
/// (ascending, all different), or repeats its one element along it; along other axes the whole
/// array repeats. Throws InvalidArgumentError where sizes do not fit, or one is unknown.
HR_API NodePtr broadcast_in_dim(const NodePtr& array, Shape shape, std::vector<int64_t> axes);

/// The same as NumPy broadcasts: the last axes are those of the array.
HR_API NodePtr broadcast_to(const NodePtr& array, Shape shape);

}  // namespace hr
