// SPDX-License-Identifier: Apache-2.0
// Kernel of compress for a CUDA device.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr::cuda {

/// Rows at `positions`, all of them inside, of rows of `width` bytes from byte `begin` on, which
/// are aligned to words of `word` bytes (1, 2, 4 or 8).
Buffer take_rows(const Buffer& rows, int64_t begin, int64_t width, int64_t word,
                 const Tensor& positions);

}  // namespace hr::cuda
