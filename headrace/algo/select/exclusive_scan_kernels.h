// SPDX-License-Identifier: Apache-2.0
// Running sums of counts on a CUDA device: where each tile's output begins.
#pragma once
#include "headrace/data/device.h"

#include <cstdint>

namespace hr::cuda {

/// Turns each of `count` numbers into the sum of those before it, beginning with 0, or if `goes_on`
/// with `*total`; then `*total` is the sum of all. For up to a few thousand of them: one block.
void exclusive_scan(const DeviceCall& call, int64_t* counts, int64_t count, int64_t* total,
                    bool goes_on);

}  // namespace hr::cuda
