// SPDX-License-Identifier: Apache-2.0
// Kernels of row_codes for a CUDA device.
#pragma once
#include "headrace/algo/sort/row_codes.h"
#include "headrace/data/device.h"

namespace hr::cuda {

/// Turns each count into the sum of those before it.
void exclusive_sum(DeviceCall& call, unsigned* counts, int64_t count);

/// The rows under other numbers: what was `order[i]` (uint32) is i.
RowCodes renumbered(const RowCodes& codes, const Buffer& order);

}  // namespace hr::cuda
