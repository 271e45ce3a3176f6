// SPDX-License-Identifier: Apache-2.0
// Kernels of distinct for a CUDA device: the first row of each key.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <vector>

namespace hr::cuda {

/// The rows with a key that none before them has, ascending, int64; null and NaN are keys, each one
/// of its own. The columns have rows. Waits for the range of the keys and for the number of rows.
Tensor distinct_rows(const std::vector<Column>& keys);

}  // namespace hr::cuda
