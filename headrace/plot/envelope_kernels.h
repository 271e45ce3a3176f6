// SPDX-License-Identifier: Apache-2.0
// Kernel of envelope. Inputs are checked; `low` and `high` hold `width` values of x's dtype.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr::cpu {

void envelope(const Tensor& x, int64_t start, int64_t stop, int64_t width, Buffer& low,
              Buffer& high);

}  // namespace hr::cpu

namespace hr::cuda {

void envelope(const Tensor& x, int64_t start, int64_t stop, int64_t width, Buffer& low,
              Buffer& high);

}  // namespace hr::cuda
