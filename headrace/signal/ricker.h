// SPDX-License-Identifier: Apache-2.0
// The Ricker ("Mexican hat") wavelet, sampled.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// `points` samples of A (1 - (x/a)^2) exp(-(x/a)^2 / 2) with a = `width`, A = 2 / (sqrt(3a)
/// pi^(1/4)) and x = 0, 1, ... - (points - 1) / 2, as scipy.signal.ricker defined it. Within 1 ulp
/// of that formula, also next to its zero crossing: evaluated in double-double arithmetic, so every
/// machine gets the same bits. `dtype` is float32 or float64.
/// Throws InvalidArgumentError when points < 0 or width is not positive and finite,
/// TypeMismatchError for other dtypes. O(points), in parallel.
HR_API Tensor ricker(int64_t points, double width, Dtype dtype = TypeId::kFloat64);

/// Throws as `ricker` would.
HR_API void check_ricker(int64_t points, double width, Dtype dtype);

}  // namespace hr
