// SPDX-License-Identifier: Apache-2.0
// Products of the columns of a tall matrix with each other.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/base/api.h"
#include "headrace/exec/working_memory.h"

namespace hr {

/// Rows of a part; parts depend on the number of rows alone, and there are at most 64 of them.
constexpr int64_t gram_part_rows(int64_t rows) {
  const int64_t even = (rows + 63) / 64;
  return even < 8192 ? 8192 : even;
}

struct GramOptions {
  const double* shift = nullptr;    ///< subtracted from each column
  const Tensor* weights = nullptr;  ///< of each row: float64, contiguous, where the rows are
};

/// (X - shift)^T W (X - shift): [columns, columns], float64, symmetric to the bit. Each part of the
/// rows is one matmul, from its first row on, and parts are added in order: the same bits for any
/// number of threads and SIMD level. Reads the rows once, into panels that are both sides of the
/// product. Scratch is half a matrix a part for up to 256 columns, else two halves. Of one or two
/// matrices on a CUDA device, of floats and the second of float64, sums are made there with the
/// same bits, and the result is on the host. Throws UnsupportedError for other rows there.
HR_API Tensor gram(const RowTiles& x, const GramOptions& options = {});

/// What it takes, for operators that use it.
HR_API WorkingBytes gram_working_bytes(int64_t rows, int64_t columns);

/// The sums of the columns, each row times its weight (null: 1): float64 [columns], in the same
/// parts, rows in order. Where and when as for `gram`.
HR_API Tensor column_sums(const RowTiles& x, const Tensor* weights = nullptr);

/// Columns by their means and what they share.
struct SecondMoments {
  Tensor means;      ///< float64 [columns]; zeros when they were not taken away
  Tensor products;   ///< float64 [columns, columns]: `gram` of the columns less `means`
  double total = 0;  ///< the weights of all rows
};

/// What least squares and principal components start from, in two reads of the rows (one if they
/// are not centered). A mean is NaN or infinite if its column has such a value. Where and when as
/// for `gram`.
HR_API SecondMoments second_moments(const RowTiles& x, const Tensor* weights, bool center);

}  // namespace hr
