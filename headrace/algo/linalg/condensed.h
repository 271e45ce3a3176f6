// SPDX-License-Identifier: Apache-2.0
// Matrices of two or three diagonals that have the values of others.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"

namespace hr {

/// The diagonal and the one above it of U^T A V for a square A and some orthogonal U and V.
/// Reflections from both sides, of the rest of the matrix in blocks (Dongarra, Sorensen and
/// Hammarling 1989). The same bits for any number of threads.
void reduce_to_bidiagonal(const MatrixView<double>& a, double* diagonal, double* beside);

/// The same of a symmetric matrix, of which the lower triangle is read: U^T A U, with `beside` on
/// both sides. Row k of `a` keeps, right of the diagonal, the vector of the k-th reflection, which
/// begins with 1 and has the factor `factors[k]`.
void reduce_to_tridiagonal(const MatrixView<double>& a, double* diagonal, double* beside,
                           double* factors);

}  // namespace hr
