// SPDX-License-Identifier: Apache-2.0
// Peaks of a signal: the maxima of their surroundings.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <limits>

namespace hr {

/// A bool tensor (the gate) that is true at i when x[i] >= `threshold` and x[i] is the maximum of
/// x[i - window/2 ... i + window/2], cut at the ends: greater than every earlier value in there and
/// not less than any later one. So the leftmost of equal values wins, and a plateau has one peak.
/// NaN is never a peak and suppresses none. Integers are compared with the threshold exactly.
/// Takes a 1-D tensor of any stride, integer or float. Throws InvalidArgumentError unless window is
/// odd and positive and threshold is not NaN, TypeMismatchError for other inputs.
/// O(n) time for any window, in parallel; scratch is a few blocks a worker, and n/16 elements for
/// windows beyond 4097.
HR_API Tensor non_max_suppression(const Tensor& x, int64_t window,
                                  double threshold = -std::numeric_limits<double>::infinity());

}  // namespace hr
