// SPDX-License-Identifier: Apache-2.0
// Levels of integers: the distinct values, and the place of each value among them.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// The distinct values of `x`, 1-D integers of up to 64 bits with a sign, of any stride, in order:
/// int64, on the host. On a CUDA device they are found there: by marks if they lie close together,
/// else by sorting. Throws TypeMismatchError for other arrays.
HR_API Tensor distinct_integers(const Tensor& x);

/// The place of each value of `x` in `levels`, which are int64, in order and on the host; -1 for
/// one that is not there: int32, where `x` is. Throws as distinct_integers does, and
/// InvalidArgumentError for 2^31 levels and more.
HR_API Tensor level_places(const Tensor& x, const Tensor& levels);

/// Where each row of `width` of the `entries`, 1-D int32 or int64, begins, and where the last one
/// ends: 0, width, 2 width, ... in their dtype and place.
HR_API Tensor row_starts(const Tensor& entries, int64_t width);

}  // namespace hr
