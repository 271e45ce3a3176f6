// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of a small symmetric matrix.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Decomposes the symmetric `size` x `size` matrix (row-major; only the lower triangle is read) by
/// Householder reduction to tridiagonal form and implicit QL steps (Golub and Van Loan, "Matrix
/// Computations", 8.3). On return row i of `matrix` is the unit eigenvector of `values[i]`; values
/// fall. One thread, fixed order: the same bits everywhere. O(size^3) time, `scratch` is 2 * size.
/// Throws InvalidArgumentError when the matrix has NaN or infinite entries.
HR_API void symmetric_eigen(double* matrix, double* values, double* scratch, int64_t size);

}  // namespace hr
