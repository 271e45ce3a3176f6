// SPDX-License-Identifier: Apache-2.0
// One number of each list.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>

namespace hr {

enum class ListReduction : uint8_t { kSum, kMin, kMax, kMean, kAny, kAll };

/// The sum, the least or the greatest item, ... of each list; null and NaN are left out, null where
/// the list is. Without items the sum is 0, any is false, all is true and the others are null. Sums
/// of integers and bools are of 64 bits and wrap around, those of floats and durations have the
/// dtype of the items; means are float64. Throws TypeMismatchError for items that the reduction
/// does not take: sums and means take numbers and bools (sums durations too), any and all bools,
/// the least and the greatest also dates, times and strings.
HR_API Column list_reduce(const Column& lists, ListReduction reduction);
HR_API NodePtr list_reduce(const NodePtr& lists, ListReduction reduction);

}  // namespace hr
