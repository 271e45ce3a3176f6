// SPDX-License-Identifier: Apache-2.0
// What the data room computes on a CUDA device: how many values a column has.
#pragma once
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>

namespace hr::cuda {

/// Ones among `count` bits, at least one, of a bitmap on a device from bit `first` on. Waits for
/// what writes them.
int64_t count_bits(const Buffer& bitmap, int64_t first, int64_t count);

}  // namespace hr::cuda
