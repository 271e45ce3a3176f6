// SPDX-License-Identifier: Apache-2.0
// Kernels of fill_missing for a CUDA device.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr::cuda {

/// The row whose value each row takes, int64: itself, or its neighbour that is there. -1: it is
/// null and there is none.
Tensor filled_rows(const Column& column, bool backward);

}  // namespace hr::cuda
