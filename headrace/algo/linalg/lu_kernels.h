// SPDX-License-Identifier: Apache-2.0
// The kernel of lu: elimination in a few columns that lie together.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace hr::cpu {

/// Columns of a panel.
inline constexpr int64_t kLuColumns = 8;

/// Eliminates below the diagonal of the first `columns` of a row-major panel of kLuColumns columns
/// without gaps; of pivots equal in size the upper row's is taken. `pivots[k]` is the row that was
/// exchanged with row k. The first column whose pivot is zero, which is left alone, or -1.
int64_t factor_panel(double* panel, int64_t rows, int64_t columns, int64_t* pivots);

}  // namespace hr::cpu

namespace hr::cuda {

/// The most equations: 512 threads keep 32 numbers of a column each.
inline constexpr int64_t kMostEquations = 16384;
inline constexpr int64_t kMostSides = int64_t{1} << 20;

/// X of A X = B on a device, two float64 matrices with elements. The first column whose pivot is
/// zero, or -1. Waits.
int64_t solve(const Tensor& a, const Tensor& b, const Buffer& out);

/// The inverse of such a matrix, likewise.
int64_t inv(const Tensor& a, const Buffer& out);

/// What determinants are made of.
struct LuDiagonal {
  std::vector<double> values;  ///< of the upper triangle
  int64_t singular;            ///< column of the first pivot that is zero, or -1
  bool odd;                    ///< of the exchanges
};

/// Of such a matrix. Waits.
LuDiagonal lu_diagonal(std::string_view op, const Tensor& a);

}  // namespace hr::cuda
