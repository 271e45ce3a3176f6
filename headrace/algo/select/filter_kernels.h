// SPDX-License-Identifier: Apache-2.0
// Kernels of filter, gather and sort for a CUDA device: rows at given positions. Of the
// positions, int64 and all inside, -1 stands for no row.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string_view>

namespace hr::cuda {

/// Rows of `width` bytes from byte `begin` on, which are aligned to words of `word` bytes (1, 2, 4
/// or 8); zeros where there is none. Errors carry `op`. Positions of uint32 are rows, all of them.
Buffer take_rows(std::string_view op, const Buffer& rows, int64_t begin, int64_t width,
                 int64_t word, const Tensor& positions);

/// Rows of a column; null where there is none, of which there may be some if `or_none`.
Column take_rows(std::string_view op, const Column& column, const Tensor& positions,
                 bool or_none = false);

}  // namespace hr::cuda
