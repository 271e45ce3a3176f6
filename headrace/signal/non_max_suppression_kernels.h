// SPDX-License-Identifier: Apache-2.0
// Kernels of non_max_suppression. The input is checked: 1-D, real, not empty; `gate` holds one byte
// an element.
#pragma once
#include "headrace/data/tensor.h"

namespace hr::cpu {
/// `half` is window / 2, at most the number of elements.
void non_max_suppression(const Tensor& x, int64_t half, double threshold, Buffer& gate);
}  // namespace hr::cpu
namespace hr::cuda {
void non_max_suppression(const Tensor& x, int64_t half, double threshold, Buffer& gate);
}  // namespace hr::cuda
