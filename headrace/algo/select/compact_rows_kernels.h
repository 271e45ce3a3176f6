// SPDX-License-Identifier: Apache-2.0
// Kernels of filter for a CUDA device: rows that a mask picks, moved together.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace hr::cuda {

/// A mask on a CUDA device, one of the two: a bool column, of which nulls are false, or a 1-D bool
/// array. Both are borrowed.
struct DeviceMask {
  const Column* column = nullptr;
  const Tensor* tensor = nullptr;

  int64_t num_rows() const { return column ? column->num_rows() : tensor->num_elements(); }
};

/// How many rows of each tile it picks, added up, and of all.
struct MaskOffsets {
  Buffer before{};  // int64, of each tile
  int64_t picked = 0;
};

/// Waits for the number.
MaskOffsets mask_offsets(std::string_view op, const DeviceMask& mask);

/// Rows of `width` bytes (1, 2, 4, 8 or 16) from byte `begin` on, those that the mask picks.
Buffer compact_rows(std::string_view op, const Buffer& rows, int64_t begin, int64_t width,
                    const DeviceMask& mask, const MaskOffsets& offsets);

/// The same of a column: one kernel for the values and one for the validity. Waits for the number
/// of nulls where the column has some.
Column compact_rows(std::string_view op, const Column& column, const DeviceMask& mask,
                    const MaskOffsets& offsets);

}  // namespace hr::cuda
