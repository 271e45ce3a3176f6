// SPDX-License-Identifier: Apache-2.0
// Sparse matrices from and to other layouts.
#pragma once
#include "headrace/data/sparse.h"

namespace hr {

/// One pass over what the pointers and indices of others say. Throws InvalidArgumentError with the
/// row for pointers that descend and for columns that are not there.
HR_API void check_entries(const Sparse& matrix);

/// The elements that are not zero (NaN is not) of a 2-D float32, float64 or int64 tensor.
HR_API Sparse sparse_from_dense(const Tensor& dense);

/// Values at (row[i], column[i]), int32 or int64; those of one place are added in their order. The
/// rows of the result are sorted. Throws InvalidArgumentError for places outside.
HR_API Sparse sparse_from_coordinates(int64_t rows, int64_t columns, const Tensor& row,
                                      const Tensor& column, const Tensor& data);

/// Every row sorted by columns, with one entry for each: the sum of its values in their order. The
/// matrix itself where it is so already.
HR_API Sparse canonical(const Sparse& matrix);

/// The transpose, its rows sorted. About 6 ns an entry and core.
HR_API Sparse transposed(const Sparse& matrix);

/// All elements, row-major.
HR_API Tensor to_dense(const Sparse& matrix);

/// The rows of these numbers (int64, 1-D), in that order. Throws InvalidArgumentError for one that
/// is not there.
HR_API Sparse take_rows(const Sparse& matrix, const Tensor& rows);

/// The number of entries in each column, int64.
HR_API Tensor column_counts(const Sparse& matrix);

/// The dtype of the indices of a matrix that this library makes: int32 where all of them fit.
HR_API Dtype index_dtype(int64_t rows, int64_t columns, int64_t entries);

}  // namespace hr
