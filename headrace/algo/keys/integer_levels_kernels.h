// SPDX-License-Identifier: Apache-2.0
// Kernels of integer_levels. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/memory/adaptors/allocator.h"

namespace hr::cuda {

BudgetedVector<int64_t> distinct_integers(const Tensor& x);

void level_places(const Tensor& x, const int64_t* levels, int64_t count, Buffer& out);

void row_starts(const Tensor& entries, int64_t width, int64_t count, Buffer& out);

}  // namespace hr::cuda
