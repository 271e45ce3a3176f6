// SPDX-License-Identifier: Apache-2.0
// The kernel of copy_strided for a CUDA device, and the axes that both copies walk over.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace hr {

struct CopyAxis {
  int64_t size;
  int64_t in;   ///< stride in elements
  int64_t out;  ///< the same in the result
};

/// Slowest of the result first, without those of one element; neighbours that are one axis in both
/// layouts are merged. At least one.
std::vector<CopyAxis> copy_axes(const Tensor& from, const Shape& out_strides);

/// The axis along which the source lies closest; the last one where no tiles are needed.
size_t closest_axis(const std::vector<CopyAxis>& axes);

}  // namespace hr

namespace hr::cuda {

/// `from` has elements and `out` is on its device.
void copy_strided(std::string_view op, const Tensor& from, const Buffer& out, int64_t offset,
                  const Shape& out_strides);

}  // namespace hr::cuda
