// SPDX-License-Identifier: Apache-2.0
// Kernels of pyramid. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/plot/pyramid_math.h"

#include <cstdint>

namespace hr::cpu {

/// Rows of a block whose range counts for the step.
inline constexpr int64_t kScaleBlock = 4096;

/// Range of the finite values of each block of kScaleBlock rows: low[k] > high[k] where it has
/// none.
void pyramid_ranges(const Tensor& x, double* low, double* high);

/// One code a row.
void pyramid_rows(const Tensor& x, const CodeScale& scale, uint16_t* codes);

/// A low and a high code for each `bucket` rows, a power of two.
void pyramid_buckets(const Tensor& x, const CodeScale& scale, int64_t bucket, uint16_t* low,
                     uint16_t* high);

/// Bytes of the packed codes in each morsel of one row of codes.
void pack_codes_count(const uint16_t* codes, int64_t count, int64_t* bytes);

/// Writes them; morsel k of the row begins at `starts[k]`.
void pack_codes_write(const uint16_t* codes, int64_t count, const int64_t* starts, uint8_t* out);

}  // namespace hr::cpu
