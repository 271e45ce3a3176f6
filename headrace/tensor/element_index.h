// SPDX-License-Identifier: Apache-2.0
// Elements by arrays of positions, one for each of the first axes.
#pragma once
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// `array[i, j, ...]` where `indices` are integer arrays that broadcast to one shape: that shape,
/// followed by the axes of the array that have no index. Negative positions count from the end.
/// One row is read for each position, by all workers. Throws TypeMismatchError for other
/// dtypes, InvalidArgumentError for more indices than axes and, when it runs, OutOfBoundsError for
/// a position out of range.
HR_API NodePtr gather_elements(const NodePtr& array, const std::vector<NodePtr>& indices);

/// The array where the elements `array[i, j, ...]` are those of `values`, which has the dtype and
/// broadcasts to them; of equal positions the last one counts. One copy of the array.
HR_API NodePtr scatter_elements(const NodePtr& array, const std::vector<NodePtr>& indices,
                                const NodePtr& values);

}  // namespace hr
