// SPDX-License-Identifier: Apache-2.0
// What scalers learn of each column of a matrix, without NaN.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// Rows of a part: of these the sums are made by themselves and then added, in order.
constexpr int64_t statistics_part_rows(int64_t rows) {
  const int64_t even = (rows + 1023) / 1024;
  return even < 2048 ? 2048 : even;
}

/// Of each column of `x`, [rows, columns], float32 or float64, any strides: how many values are not
/// NaN, and their sum, least, greatest (infinities for none) and, if asked for, the sum of squares
/// of what they are apart from their mean, which reads the rows once more: float64 [5, columns], on
/// the host. Sums are float64 in parts by shape: the same bits for any number of threads, and on a
/// CUDA device. Throws TypeMismatchError for other arrays.
HR_API Tensor column_statistics(const Tensor& x, bool squares);

}  // namespace hr
