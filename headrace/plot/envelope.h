// SPDX-License-Identifier: Apache-2.0
// The lowest and highest value in each pixel column of a picture of a long series.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// Two 1-D tensors of one length and dtype: what a column of pixels has to cover.
struct Envelope {
  Tensor low;
  Tensor high;
};

/// First row of pixel `pixel` when `rows` rows, counted from 0, are drawn `width` pixels wide:
/// floor(pixel * rows / width) without overflow. Pixel p covers the rows
/// [first(p), max(first(p) + 1, first(p + 1))): every row is in a pixel, and where there are fewer
/// rows than pixels a pixel shows the one row that lies below its left edge.
constexpr int64_t envelope_first_row(int64_t pixel, int64_t rows, int64_t width) {
  return pixel * (rows / width) + pixel * (rows % width) / width;
}

/// Exact minimum and maximum of rows [start, stop) of a 1-D tensor in each of `width` pixels, in
/// the dtype of `x`. Any real dtype and any stride. NaN is passed over; a pixel of NaN alone is
/// NaN. A zero comes out as 0.0, whatever its sign, so the bits do not depend on any order.
/// O(stop - start) time on all workers, no scratch beyond one pair for each of a few thousand
/// pieces. Throws TypeMismatchError for other dtypes or dimensions, InvalidArgumentError unless
/// 0 <= start < stop <= rows and 1 <= width < 2^31.
HR_API Envelope envelope(const Tensor& x, int64_t start, int64_t stop, int64_t width);

/// Throws what `envelope` throws for these numbers.
HR_API void check_envelope(int64_t rows, int64_t start, int64_t stop, int64_t width);

}  // namespace hr
