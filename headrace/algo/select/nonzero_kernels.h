// SPDX-License-Identifier: Apache-2.0
// Kernels of index_of_true. The gate is checked: 1-D bool, no nulls.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr::cpu {
Tensor index_of_true(const Tensor& gate);
Tensor index_of_true(const Column& gate);
}  // namespace hr::cpu
namespace hr::cuda {
Tensor index_of_true(const Tensor& gate);
Tensor index_of_true(const Column& gate);
}  // namespace hr::cuda
