// SPDX-License-Identifier: Apache-2.0
// Kernels of diff. The input is checked and has at least two elements; `out` holds one less.
#pragma once
#include "headrace/data/tensor.h"

namespace hr::cpu {
void diff(const Tensor& x, Buffer& out);
}
namespace hr::cuda {
void diff(const Tensor& x, Buffer& out);
}
