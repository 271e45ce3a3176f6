// SPDX-License-Identifier: Apache-2.0
// Kernel of cumulate for a CUDA device.
#pragma once
#include "headrace/algo/scan/cumulative.h"
#include "headrace/data/column.h"

namespace hr::cuda {

/// As hr::cumulate of one segment, with its bits; the dtype is checked. `dtype` is the result's.
Column cumulate(Cumulation cumulation, const Column& column, Dtype dtype);

}  // namespace hr::cuda
