// SPDX-License-Identifier: Apache-2.0
// Arrays put together of others: along an axis, or one with some elements replaced.
#pragma once
#include "headrace/plan/graph/view.h"

#include <vector>

namespace hr {

/// The arrays one after the other along `axis`, in the dtype that all have. One copy. Throws
/// InvalidArgumentError where other sizes or dimensions differ.
HR_API NodePtr concatenate(const std::vector<NodePtr>& arrays, int64_t axis);

/// `array` with the elements of the view that `items` says (see strided_view) replaced by `value`,
/// which has the dtype and broadcasts to the view. Writes into the memory of `array` where nothing
/// else refers to it, and else copies that.
HR_API NodePtr slice_update(const NodePtr& array, const NodePtr& value,
                            std::vector<ViewItem> items);

}  // namespace hr
