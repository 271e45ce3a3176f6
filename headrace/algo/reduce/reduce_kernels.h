// SPDX-License-Identifier: Apache-2.0
// Kernels of reduce: one block of at most 1024 values, a multiple of 32 (the caller pads).
#pragma once
#include "headrace/base/dtype.h"

#include <cstdint>

namespace hr::cpu {

/// What to fold in 32 lanes; lane of value i is i mod 32.
enum class FloatFold : uint8_t { kSum, kProduct, kSquares, kMin, kMax };

/// kSquares sums (x - mean)^2; kMin and kMax give NaN if there is one. float32 folds in float64.
double accumulate_block(FloatFold fold, const double* values, int64_t count, double mean);
double accumulate_block(FloatFold fold, const float* values, int64_t count, double mean);

enum class IntegerFold : uint8_t { kSum, kProduct, kMin, kMax, kNonZero };

/// Exact modulo 2^64, so in any order; bool values are bytes 0 or 1.
uint64_t fold_integers(IntegerFold fold, Dtype dtype, const void* values, int64_t count);

}  // namespace hr::cpu
