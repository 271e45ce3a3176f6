// SPDX-License-Identifier: Apache-2.0
// Kernel of cumulative_axis.
#pragma once
#include "headrace/tensor/cumulative_axis.h"

namespace hr::cpu {

/// `out` is contiguous and has the shape of `from`, longer by `initial` along `axis`.
void run_along(Running running, const Tensor& from, size_t axis, bool initial, std::byte* out);

}  // namespace hr::cpu
