// SPDX-License-Identifier: Apache-2.0
// What stands beyond the edges of a matrix.
#pragma once
#include "headrace/base/api.h"
#include "headrace/signal/convolve2d.h"

#include <cstdint>

namespace hr {

/// The place in [0, size) that stands for `i`; -1: the fill value.
HR_BOTH inline int64_t place_of(int64_t i, int64_t size, MatrixBoundary boundary) {
  if (i >= 0 && i < size) return i;
  if (boundary == MatrixBoundary::kFill) return -1;
  const int64_t period = boundary == MatrixBoundary::kWrap ? size : 2 * size;
  const int64_t within = (i % period + period) % period;
  return within < size ? within : period - 1 - within;
}

}  // namespace hr
