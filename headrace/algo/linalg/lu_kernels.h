// SPDX-License-Identifier: Apache-2.0
// The kernel of lu: elimination in a few columns that lie together.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr::cpu {

/// Columns of a panel.
inline constexpr int64_t kLuColumns = 8;

/// Eliminates below the diagonal of the first `columns` of a row-major panel of kLuColumns columns
/// without gaps; of pivots equal in size the upper row's is taken. `pivots[k]` is the row that was
/// exchanged with row k. The first column whose pivot is zero, which is left alone, or -1.
int64_t factor_panel(double* panel, int64_t rows, int64_t columns, int64_t* pivots);

}  // namespace hr::cpu

namespace hr::cuda {

/// The most equations: a panel of eight columns lies in shared memory.
inline constexpr int64_t kMostEquations = 3200;

/// X of A X = B on a device, two float64 matrices with elements. The first column whose pivot is
/// zero, or -1. Waits.
int64_t solve(const Tensor& a, const Tensor& b, const Buffer& out);

}  // namespace hr::cuda
