// SPDX-License-Identifier: Apache-2.0
// Sums of a target by level and fold, for encodings that each row gets from the others.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// Number of rows, sum and sum of squares of `y - center`, by level and fold: float64 [levels + 1,
/// folds, 3]. `level`, int32 [rows], is below `levels`, or -1 for rows that are counted last;
/// `fold`, int32 [rows], is below `folds`; `y` is float64 [rows]. Rows are summed in parts that
/// follow from their number, and parts in order: the same bits for any number of threads. Throws
/// TypeMismatchError for other dtypes, InvalidArgumentError for other shapes and for numbers out of
/// range.
HR_API Tensor target_sums(const Tensor& level, const Tensor& fold, const Tensor& y, double center,
                          int64_t levels, int64_t folds);

/// The row of `table`, float64 [levels + 1, folds], at each row's level and fold: float64 [rows].
/// Throws as target_sums.
HR_API Tensor target_encode(const Tensor& level, const Tensor& fold, const Tensor& table);

}  // namespace hr
