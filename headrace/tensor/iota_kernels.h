// SPDX-License-Identifier: Apache-2.0
// Kernel of iota for a CUDA device.
#pragma once
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>

namespace hr::cuda {

/// Writes 0 ... `count` - 1, at least one.
void write_iota(int64_t count, const Buffer& out);

}  // namespace hr::cuda
