// SPDX-License-Identifier: Apache-2.0
// From an envelope to pixels.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"
#include "headrace/plot/envelope.h"

#include <cstdint>
#include <optional>
#include <tuple>

namespace hr {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  uint8_t alpha = 255;

  static auto parameters(auto& self) {
    return std::tie(self.red, self.green, self.blue, self.alpha);
  }
};

/// The picture of an envelope: uint8 [height, width, 4] (red, green, blue, alpha; row 0 on top,
/// where `top` is). Each column is one vertical span of `ink` over a transparent ground, at least
/// one pixel thick, its ends smoothed by how much of a pixel they cover; spans of neighbours that
/// do not touch are joined half way, as a line would. Values beyond `bottom` and `top` are cut off;
/// NaN columns stay empty. Throws InvalidArgumentError unless bottom < top, both finite, and
/// 1 <= height <= 65536; TypeMismatchError unless low and high are 1-D, real and equally long.
HR_API Tensor raster_envelope(const Envelope& envelope, double bottom, double top, int64_t height,
                              Color ink = {});

/// Points by group: a number of each, 1-D, uint16, contiguous; points of number `count` or beyond
/// belong to none.
struct PointGroups {
  Tensor numbers;
  int64_t count = 1;
};

/// Points for each cell of a grid, a two-dimensional histogram: int64 [height, width], row 0 on
/// top; with groups [groups, height, width]. A cell takes its lower and left edge, the last ones
/// also the upper and right edge. Points outside, NaN or of no group are not counted. `x` and `y`
/// are 1-D, real, equally long, any stride. One pass on all cores; memory beyond the result: its
/// size for each further thread, none where there are fewer points than cells.
/// Throws InvalidArgumentError for empty or non-finite ranges, sizes beyond 1 to 65536 and unequal
/// lengths, TypeMismatchError for other dtypes or dimensions.
HR_API Tensor raster_points(const Tensor& x, const Tensor& y, double left, double right,
                            double bottom, double top, int64_t width, int64_t height,
                            const std::optional<PointGroups>& groups = {});

/// The ends of lines: 1-D, real, of one dtype, equally long, any stride.
struct LineEnds {
  Tensor x0;
  Tensor y0;
  Tensor x1;
  Tensor y1;
};

/// Lines for each cell of a grid: int64 [height, width], row 0 on top. A line takes one cell in
/// each column that it reaches if it is wider than high, else in each row. What is outside is cut
/// off, a line with NaN or infinity is not counted. Errors as for points.
HR_API Tensor raster_segments(const LineEnds& lines, double left, double right, double bottom,
                              double top, int64_t width, int64_t height);

}  // namespace hr
