// SPDX-License-Identifier: Apache-2.0
// Kernels of nonzero. The gate is checked: 1-D bool; a null on a CUDA device counts as false.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr::cpu {
Tensor nonzero(const Tensor& gate);
Tensor nonzero(const Column& gate);
}  // namespace hr::cpu
namespace hr::cuda {
Tensor nonzero(const Tensor& gate);
Tensor nonzero(const Column& gate);
}  // namespace hr::cuda
