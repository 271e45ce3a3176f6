// SPDX-License-Identifier: Apache-2.0
// Kernels of raster. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/plot/raster.h"

#include <cstdint>

namespace hr::cpu {

void raster_envelope(const Envelope& envelope, double bottom, double top, int64_t height, Color ink,
                     uint8_t* pixels);

/// `counts` is zero at the start.
void raster_points(const Tensor& x, const Tensor& y, double left, double right, double bottom,
                   double top, int64_t width, int64_t height, int64_t* counts);
void raster_segments(const LineEnds& lines, double left, double right, double bottom, double top,
                     int64_t width, int64_t height, int64_t* counts);

}  // namespace hr::cpu
