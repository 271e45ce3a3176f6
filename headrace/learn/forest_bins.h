// SPDX-License-Identifier: Apache-2.0
// A matrix in bytes: each column cut into at most 255 bins, for trees that split on histograms.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

inline constexpr int64_t kForestBins = 255;      ///< most bins of a column
inline constexpr uint8_t kForestMissing = 0xFF;  ///< the code of NaN

/// Codes of `rows` rows in `features` columns. Bin b of a column holds the values from `low[b]` to
/// `high[b]`, and those of later bins are greater.
struct ForestBins {
  int64_t rows = 0;
  int64_t features = 0;
  Buffer codes;  ///< uint8 [features, rows], where the matrix is: its trees grow there
  Buffer low;    ///< float64 [features, kForestBins], the smallest value of each bin
  Buffer high;   ///< float64 [features, kForestBins], the largest value of each bin
};

/// Bins of `x`, [rows, features], float32 or float64, any strides, without infinite values. A
/// column of at most 255 distinct values has a bin for each; else bins are of about equal size, as
/// far as equal values allow, and from more than 2^18 rows their borders are those of 2^18 rows
/// drawn from all. The same bits for any number of threads and on a CUDA device. Takes rows x
/// features bytes, and 8 bytes a row for each worker meanwhile. Throws TypeMismatchError for other
/// dtypes or dimensions.
HR_API ForestBins forest_bins(const Tensor& x);

/// The codes of some rows (int64), in the same bins. Throws InvalidArgumentError for rows that are
/// not there.
HR_API ForestBins take_rows(const ForestBins& bins, const Tensor& rows);

}  // namespace hr
