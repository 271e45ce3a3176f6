// SPDX-License-Identifier: Apache-2.0
// Singular values by way of a matrix with two diagonals.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"

namespace hr {

/// The diagonal and the one above it of U^T A V for a square A and some orthogonal U and V.
/// Reflections from both sides, of the rest of the matrix in blocks
/// (Dongarra, Sorensen and Hammarling 1989). The same bits for any number of threads.
void reduce_to_bidiagonal(const MatrixView<double>& a, double* diagonal, double* beside);

/// The singular values, in no order, of the matrix with these diagonals, by the differential
/// quotient-difference algorithm with shifts (Fernando and Parlett 1994): each has its own digits.
/// False if that does not converge to finite values. The diagonals are used up.
bool bidiagonal_values(double* diagonal, double* beside, double* values, int64_t size);

}  // namespace hr
