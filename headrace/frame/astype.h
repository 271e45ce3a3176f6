// SPDX-License-Identifier: Apache-2.0
// Conversions of columns between all dtypes.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// The lazy values as `dtype`: numbers as `cast` has them, but floats become integers checked;
/// strings are parsed to numbers, times and durations, and all but complex numbers become strings;
/// decimals convert to and from numbers and strings; times and durations change their unit, rounded
/// down, and zoned times become local dates. Throws TypeMismatchError for other pairs, naming both;
/// on evaluation InvalidArgumentError with the row of a value that the dtype cannot hold.
HR_API NodePtr astype(const NodePtr& input, Dtype dtype);

}  // namespace hr
