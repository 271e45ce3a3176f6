// SPDX-License-Identifier: Apache-2.0
// Counts of values in bins, equal to numpy.histogram.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <optional>

namespace hr {

struct Histogram {
  Tensor counts;  ///< int64, one a bin
  Tensor edges;   ///< float32 for float32 input, else float64: one more than counts
};

struct HistogramRange {
  double low;
  double high;
};

/// Counts a 1-D tensor of any stride in `bins` bins of equal width over `range` (default: minimum
/// and maximum; 0 to 1 when `x` is empty). Each bin holds its left edge, the last one
/// its right edge too; values outside the range and NaN are not counted. Edges, their dtype and
/// counts equal those of `numpy.histogram` bit for bit, its corrections at the edges included.
/// Throws TypeMismatchError unless `x` is 1-D and integer or float, InvalidArgumentError when bins
/// < 1 or >= 2^31 - 1, when the range is not finite or decreases, and when there is none and `x`
/// holds NaN or inf. O(n); with a range one pass, else two.
HR_API Histogram histogram(const Tensor& x, int64_t bins = 10,
                           std::optional<HistogramRange> range = {});

/// Counts in bins between ascending `edges` (1-D, integer or float, at least 2, may repeat), as
/// `numpy.histogram(x, edges)`. The edges come back as they are. NaN is not counted. Throws as
/// above, and InvalidArgumentError when the edges decrease or contain NaN. O(n log edges), one
/// pass.
HR_API Histogram histogram(const Tensor& x, const Tensor& edges);

}  // namespace hr
