// SPDX-License-Identifier: Apache-2.0
// The lazy forms of this room's functions: dtype and shape are checked now, the work is done
// later.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/plot/envelope.h"
#include "headrace/plot/png.h"
#include "headrace/plot/raster.h"

#include <optional>

namespace hr {

// Each takes arrays or columns without nulls and promises what the function of its name does.

struct EnvelopeNodes {
  NodePtr low;
  NodePtr high;
};

/// `stop` none: the end of `x`, which only the data may tell.
HR_API EnvelopeNodes envelope(const NodePtr& x, int64_t start, std::optional<int64_t> stop,
                              int64_t width);

HR_API NodePtr raster_envelope(const NodePtr& low, const NodePtr& high, double bottom, double top,
                               int64_t height, Color ink);

HR_API NodePtr raster_points(const NodePtr& x, const NodePtr& y, double left, double right,
                             double bottom, double top, int64_t width, int64_t height,
                             const NodePtr& groups = nullptr, int64_t num_groups = 1);

/// `lines` are x0, y0, x1 and y1.
HR_API NodePtr raster_segments(const std::vector<NodePtr>& lines, double left, double right,
                               double bottom, double top, int64_t width, int64_t height);

HR_API NodePtr encode_png(const NodePtr& image);

}  // namespace hr
