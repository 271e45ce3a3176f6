// SPDX-License-Identifier: Apache-2.0
// Kernels of quantile for a CUDA device: numbers in order there, the missing ones last.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>

namespace hr::cuda {

/// How many are neither null nor NaN, of at least one row. Waits.
int64_t present_values(const Column& sorted);

/// The value of a row. Waits.
void fetch_row(const Column& sorted, int64_t row, void* out);

}  // namespace hr::cuda
