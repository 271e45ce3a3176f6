// SPDX-License-Identifier: Apache-2.0
// The base of a min/max pyramid, small enough to be embedded in a web page.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// A series as codes of 16 bits: code 0 means missing, code c means `offset + step * c`.
/// A bucket of 1 holds the rows themselves; a longer one a lowest and a highest value. The levels
/// above follow from the base by minimum and maximum, so the drawing code makes them and nothing
/// stores them.
struct Pyramid {
  int64_t num_rows = 0;
  int64_t bucket = 1;       ///< rows for each base value: 1, or a power of two from 4 on
  int64_t num_buckets = 0;  ///< ceil(num_rows / bucket)
  double offset = 0;
  double step = 1;
  Tensor codes;  ///< uint16, [num_buckets] for a bucket of 1, else [2, num_buckets]: low, high
};

/// Packs a 1-D real tensor. The bucket is the smallest that gives at most `max_values` codes. The
/// step is 1/512 of the median range of blocks of 4096 rows (so a rare spike does not coarsen the
/// rest), or more where 65,534 steps would not span the series. Codes of a bucket of 1 are rounded
/// to the nearest (at most half a step off), those of longer buckets outward (low down, high up,
/// less than a step off), so that no peak is lost. NaN is missing, and passed over in a bucket that
/// has other values; infinities take the lowest and the highest code.
/// O(rows) time on all workers. Throws TypeMismatchError for other dtypes or dimensions,
/// InvalidArgumentError for max_values < 2.
HR_API Pyramid pyramid(const Tensor& x, int64_t max_values = 25'000'000);

/// The codes as bytes for a general compressor: each code as its difference from the one before
/// (from 0 at the first of each row of `codes`), one byte 128 + d for |d| <= 127, else byte 0 and
/// then the code itself in two bytes, low byte first. uint8, 1-D.
HR_API Tensor pack_codes(const Tensor& codes);

}  // namespace hr
