// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor of a positive definite matrix, and what it solves.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/base/api.h"

namespace hr {

/// The lower triangular L of A = L L^T, of one matrix or of a stack; only the lower triangle of `a`
/// is read. Float64 inside; float32 for float32, else float64. Blocked, O(n^3 / 3); the same bits
/// for any number of threads. Throws InvalidArgumentError, which names the column of the pivot, for
/// a matrix that is not positive definite or has NaN.
HR_API Tensor cholesky(const Tensor& a);

/// X of L L^T X = B, where L is what `cholesky` gave; [..., n, columns].
HR_API Tensor solve_cholesky(const Tensor& l, const Tensor& b);

/// In place of one matrix, whose rows lie contiguous; the upper triangle is left alone. The column
/// of the first pivot that is not positive, or -1.
int64_t factor_cholesky(const MatrixView<double>& a);

}  // namespace hr
