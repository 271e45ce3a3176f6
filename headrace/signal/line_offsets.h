// SPDX-License-Identifier: Apache-2.0
// Lines along an axis of a tensor.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// Where line `line` along `axis` begins, in elements; lines in row-major order of the other axes.
struct LineOffsets {
  const Shape& shape;
  const Shape& strides;
  int64_t axis;

  int64_t operator[](int64_t line) const {
    int64_t offset = 0;
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      if (d == axis) continue;
      const auto place = static_cast<size_t>(d);
      offset += line % shape[place] * strides[place];
      line /= shape[place];
    }
    return offset;
  }
};

}  // namespace hr
