// SPDX-License-Identifier: Apache-2.0
// What a job over rows touches of columns, tensors and results.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/memory/buffer/pin.h"

namespace hr {

/// Elements in row-major order of a tensor that has one dimension or is contiguous; other tensors
/// are read from the page cache where they are not in memory.
inline BufferAccess reads(const Tensor& tensor, int64_t before = 0, int64_t after = 0) {
  const int64_t bits = 8 * tensor.dtype().size_bytes();
  const int64_t step = tensor.num_dimensions() == 1 ? tensor.strides()[0] : 1;
  const bool walks = tensor.num_dimensions() == 1 || tensor.is_contiguous();
  return {&tensor.buffer(),
          8 * tensor.byte_offset(),
          walks ? step * bits : 0,
          walks ? bits : 0,
          tensor.num_elements(),
          before,
          after};
}

/// The values of a column's rows; validity, a 64th of them, is left out.
inline BufferAccess reads(const Column& column) {
  const int64_t bits = column.dtype().is_bool() ? 1 : 8 * column.dtype().size_bytes();
  return {&column.values_buffer(), column.offset() * bits, bits, bits, column.num_rows()};
}

/// Rows of `row_bytes` that the job makes.
inline BufferAccess writes(const Buffer& out, int64_t row_bytes) {
  return {&out, 0, 8 * row_bytes, 8 * row_bytes, out.size_bytes() / row_bytes, 0, 0, true};
}

/// Bits of a bitmap that the job makes.
inline BufferAccess writes_bits(const Buffer& out) {
  return {&out, 0, 1, 1, 8 * out.size_bytes(), 0, 0, true};
}

}  // namespace hr
