// SPDX-License-Identifier: Apache-2.0
// Sparse times dense, each sum in one order.
#pragma once
#include "headrace/data/sparse.h"

namespace hr {

/// The product with a vector [columns] or a matrix [columns, k] of the same dtype: [rows] or
/// [rows, k]. The products of a row go in their order to four sums in turn (one, for a matrix),
/// which are added as (0 + 1) + (2 + 3): the same bits for any number of threads and SIMD level.
/// Integers wrap. Throws InvalidArgumentError for sizes that do not fit, TypeMismatchError for
/// other dtypes.
HR_API Tensor multiply(const Sparse& matrix, const Tensor& dense);

/// The product of the transpose with a vector [rows] or a matrix [rows, k]: [columns] or
/// [columns, k]. For a vector, up to 16 ranges of rows, which the matrix alone decides, are added
/// apart in row order, then in order; a matrix is multiplied with the transpose.
HR_API Tensor multiply_transposed(const Sparse& matrix, const Tensor& dense);

}  // namespace hr
