// SPDX-License-Identifier: Apache-2.0
// Products of the columns of a tall matrix with each other.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/base/api.h"

namespace hr {

/// Rows of a part; parts depend on the number of rows alone, and there are at most 64 of them.
constexpr int64_t gram_part_rows(int64_t rows) {
  const int64_t even = (rows + 63) / 64;
  return even < 8192 ? 8192 : even;
}

struct GramOptions {
  const double* shift = nullptr;    ///< subtracted from each column
  const double* weights = nullptr;  ///< of each row
};

/// (X - shift)^T W (X - shift): [columns, columns], float64, symmetric to the bit. Each part of the
/// rows is one matmul, from its first row on, and parts are added in order: the same bits for any
/// number of threads and SIMD level. Reads the rows once. Scratch is one matrix a part for up to
/// 256 columns, else two.
HR_API Tensor gram(const RowTiles& x, const GramOptions& options = {});

}  // namespace hr
