// SPDX-License-Identifier: Apache-2.0
// Missing values filled from their neighbours.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

namespace hr {

/// Each missing value (null, and NaN among floats) becomes the last one before it that is there,
/// or, `backward`, the next one after it; where there is none it stays as it is. Strings share
/// their text. Two passes by all workers: the first finds the last value of each morsel. On a CUDA
/// device a running maximum of row numbers, and a gather.
HR_API Column fill_missing(const Column& column, bool backward);

}  // namespace hr
