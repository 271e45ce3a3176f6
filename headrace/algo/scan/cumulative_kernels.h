// SPDX-License-Identifier: Apache-2.0
// Kernel of cumulative for a CUDA device.
#pragma once
#include "headrace/algo/scan/cumulative.h"
#include "headrace/data/column.h"

namespace hr::cuda {

/// As hr::cumulate of one segment, with its bits; the dtype is checked. `dtype` is the result's.
Column cumulative(Aggregate aggregate, const Column& column, Dtype dtype);

}  // namespace hr::cuda
