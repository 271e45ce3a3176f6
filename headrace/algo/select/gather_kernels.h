// SPDX-License-Identifier: Apache-2.0
// Kernel of gather for a CUDA device: what positions mean. Compress_kernels.h moves the rows.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr::cuda {

/// Positions (1-D, any integer dtype and stride) as int64 rows of [0, num_rows): negative ones
/// count from the end, or if `or_none`, -1 stays. `first_bad` gets the index of the first that is
/// out of range, or -1; then the rows mean nothing. Waits for the kernel.
Tensor rows_at(const Tensor& positions, int64_t num_rows, bool or_none, int64_t& first_bad);

}  // namespace hr::cuda
