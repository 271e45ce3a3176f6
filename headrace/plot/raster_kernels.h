// SPDX-License-Identifier: Apache-2.0
// Kernels of raster. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/plot/raster.h"

#include <cstdint>

namespace hr::cpu {

void raster_envelope(const Envelope& envelope, double bottom, double top, int64_t height, Color ink,
                     uint8_t* pixels);

/// The values from `low` to `high` along one axis of a raster, and by how much the place of a cell
/// grows with each of `cells` steps.
struct RasterSide {
  const Tensor& values;
  double low;
  double high;
  int64_t cells;
  int64_t step;
};

/// A point of group g has its place `group_cells * g` further on.
struct PointsJob {
  RasterSide x;
  RasterSide y;
  const Tensor* groups;
  int64_t group_cells;
  int64_t cells;
};

/// `counts` [cells + 1] and `others` [slots - 1, cells + 1] are zero at the start; any point may be
/// counted in any slot, the last cell is for those in none. Adds the others to `counts`.
void raster_points(const PointsJob& job, int64_t slots, int64_t* counts, int64_t* others);

/// `counts` is zero at the start.
void raster_segments(const LineEnds& lines, double left, double right, double bottom, double top,
                     int64_t width, int64_t height, int64_t* counts);

}  // namespace hr::cpu
