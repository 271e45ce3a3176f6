// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of symmetric matrices.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// Decomposes the symmetric `size` x `size` matrix (row-major; only the lower triangle is read) by
/// Householder reduction to tridiagonal form and implicit QL steps (Golub and Van Loan, "Matrix
/// Computations", 8.3). On return row i of `matrix` is the unit eigenvector of `values[i]`; values
/// fall. One thread, fixed order: the same bits everywhere. O(size^3) time, `scratch` is 3 * size.
/// Throws InvalidArgumentError when the matrix has NaN or infinite entries.
HR_API void eigh(double* matrix, double* values, double* scratch, int64_t size);

/// All eigenvalues, falling, and the unit eigenvectors of the `count` largest only, as rows of
/// `vectors`: no rotation touches a vector, they are found by inverse iteration on the tridiagonal
/// matrix (Golub and Van Loan, 8.2.2), each kept orthogonal to those before, and reflected back.
/// `matrix` is used up; `scratch` is 8 * size.
HR_API void eigh_largest(double* matrix, double* values, double* vectors, double* scratch,
                         int64_t size, int64_t count);

struct Eigh {
  Tensor values;   ///< [..., n], rising
  Tensor vectors;  ///< [..., n, n], column i belongs to value i; empty without them
};

/// Of one symmetric matrix or of a stack, of which the lower triangle is read. Float64 inside;
/// float32 for float32, else float64. Throws TypeMismatchError unless `a` is real and has two or
/// more dimensions, InvalidArgumentError unless it is square and finite.
HR_API Eigh eigh(const Tensor& a, bool with_vectors = true);

}  // namespace hr
