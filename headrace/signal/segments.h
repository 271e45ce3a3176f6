// SPDX-License-Identifier: Apache-2.0
// Segments cut from a signal into one contiguous 2-D tensor: fixed width, zero-padded, normalised.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// How a segment is scaled, over its own samples only (never the padding):
/// kZscore (v - mean) / deviation, with n below the sum of squares; kMinMax (v - min) / (max -
/// min); kMax v / max|v|. A segment for which the divisor is 0 becomes zeros.
enum class Normalize { kNone, kZscore, kMinMax, kMax };

/// Row k of the result is x[begins[k]], x[begins[k] + 1], ... for min(lengths[k], width) elements,
/// then zeros up to `width`. Places before the signal's begin or behind its end are zeros too and
/// do not count as samples. Shape (number of begins, width), row-major, with the dtype of `x`. `x`
/// is 1-D of any stride, float32 or float64; `begins` 1-D int64; `lengths` int64, as many as begins
/// or a single one for all. Sums run in float64 through the fixed 32-lane order. A NaN or inf in a
/// segment makes its normalised samples NaN. Throws TypeMismatchError for other dtypes or
/// dimensions, InvalidArgumentError when width < 0, a length is negative or the number of lengths
/// fits neither case. O(rows * width), in parallel.
HR_API Tensor segments(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
                       Normalize normalize = Normalize::kNone);

/// The same with one length, `width`, for all segments.
HR_API Tensor segments(const Tensor& x, const Tensor& begins, int64_t width,
                       Normalize normalize = Normalize::kNone);

}  // namespace hr
