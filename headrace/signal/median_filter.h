// SPDX-License-Identifier: Apache-2.0
// Medians of a window that moves over a signal.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string>

namespace hr {

/// For each row (last axis) of `x` the median of the `size` samples around each; beyond the ends
/// there are zeros, as in scipy.signal.medfilt. float32, float64 or int64; the result has the dtype
/// of x and is row-major. A window with NaN gives NaN.
/// Windows up to 63 are sorted by a network of exchanges, many at a time: O(n size^2) of them;
/// longer ones are kept sorted: O(n size) moves. Parallel; the same bits for any number of threads
/// and at every SIMD level.
/// Throws TypeMismatchError for other dtypes, InvalidArgumentError unless `size` is odd and
/// positive.
HR_API Tensor median_filter(const Tensor& x, int64_t size);

/// Why windows of this size have no kernel for CUDA; empty: they have one.
HR_API std::string why_no_median_kernel(int64_t size);

}  // namespace hr
