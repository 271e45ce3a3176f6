// SPDX-License-Identifier: Apache-2.0
// Kernels of ricker. `out` holds `points` elements of a float dtype.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/memory/buffer/buffer.h"

namespace hr::cpu {
void ricker(int64_t points, double width, Dtype dtype, Buffer& out);
}
namespace hr::cuda {
void ricker(int64_t points, double width, Dtype dtype, Buffer& out);
}
