// SPDX-License-Identifier: Apache-2.0
// Kernels of reduce: blocks of at most 1024 values.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/reduce/reduce.h"
#include "headrace/base/dtype.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr::cpu {

/// `values` where the bits of `valid` are set (null: everywhere) and, with `skip_nan`, not NaN,
/// else `missing`; returns how many stayed. For any `count`.
int64_t keep_valid(const double* values, const uint64_t* valid, int64_t count, bool skip_nan,
                   double missing, double* out);

/// In 32 lanes; lane of value i is i mod 32. kSum, kProduct, kSquares, kMin or kMax. kSquares sums
/// (x - mean)^2, of a multiple of 32 values; kMin and kMax give NaN if there is one. float32 folds
/// in float64.
double accumulate_block(Accumulator fold, const double* values, int64_t count, double mean);
double accumulate_block(Accumulator fold, const float* values, int64_t count, double mean);

/// out[i] = the kSum, kProduct, kMin or kMax of rows[r * step + i], the bits of `accumulate_block`:
/// all columns row by row. `lanes` has room for 32 * columns.
void accumulate_columns(Accumulator fold, const double* rows, int64_t step, int64_t count,
                        int64_t columns, double* lanes, double* out);
void accumulate_columns(Accumulator fold, const float* rows, int64_t step, int64_t count,
                        int64_t columns, double* lanes, double* out);

/// Of a multiple of 32 values: sums of the first to the fourth power of (x - mean), in the same
/// lanes.
void sum_powers(const double* values, int64_t count, double mean, double (&powers)[4]);
void sum_powers(const float* values, int64_t count, double mean, double (&powers)[4]);

/// kSum, kProduct, kMin, kMax or kNonZero. Exact modulo 2^64, so in any order; bool values are
/// bytes 0 or 1.
uint64_t fold_integers(Accumulator fold, Dtype dtype, const void* values, int64_t count);

}  // namespace hr::cpu

namespace hr::cuda {

/// `reduce_axis` of an array that `why_no_axis_kernel` has nothing against, into `out`, which has
/// room for one value of `dtype` a line; there are lines.
void reduce_axis(const Tensor& from, Aggregate reduction, size_t along,
                 const ReduceOptions& options, Dtype dtype, const Buffer& out);

}  // namespace hr::cuda
