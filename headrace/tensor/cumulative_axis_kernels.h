// SPDX-License-Identifier: Apache-2.0
// Kernel of cumulative_axis.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/tensor/cumulative_axis.h"

namespace hr::cpu {

/// `out` is contiguous and has the shape of `from`, longer by `initial` along `axis`.
void run_along(Running running, const Tensor& from, size_t axis, bool initial, std::byte* out);

}  // namespace hr::cpu

namespace hr::cuda {

/// The same on a device; there are lines.
void run_along(Running running, const Tensor& from, size_t axis, bool initial, const Buffer& out);

}  // namespace hr::cuda
