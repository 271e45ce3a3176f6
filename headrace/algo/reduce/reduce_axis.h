// SPDX-License-Identifier: Apache-2.0
// Which reductions along an axis run on a CUDA device.
#pragma once
#include "headrace/algo/reduce/reduce.h"

#include <string>

namespace hr {

/// Why `reduce_axis` has no kernel for these; empty: it has one, which gives the host's bits.
HR_API std::string why_no_axis_kernel(const Tensor& tensor, Aggregate reduction, int64_t axis,
                                      const ReduceOptions& options);

}  // namespace hr
