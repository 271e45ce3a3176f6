// SPDX-License-Identifier: Apache-2.0
// Sparse matrices from and to other layouts.
#pragma once
#include "headrace/data/sparse.h"

#include <string_view>

namespace hr {

/// One pass over what the pointers and indices of others say. Throws InvalidArgumentError with the
/// row for pointers that descend and for columns that are not there. `layout` is the word of
/// errors; rows and columns of a "csc_matrix" are the other way round.
HR_API void check_entries(const Sparse& matrix, std::string_view layout = "csr_matrix");

/// The elements that are not zero (NaN is not) of a 2-D float32, float64 or int64 tensor.
HR_API Sparse sparse_from_dense(const Tensor& dense);

/// Every row sorted by columns, with one entry for each: the sum of its values in their order. The
/// matrix itself where it is so already.
HR_API Sparse canonical(const Sparse& matrix);
HR_API bool is_canonical(const Sparse& matrix);

/// Every row sorted by columns; entries of one place stay, in their order. The matrix itself where
/// it is so already.
HR_API Sparse sorted(const Sparse& matrix);
HR_API bool is_sorted(const Sparse& matrix);

/// The row of each entry, int32 or int64.
HR_API Tensor row_numbers(const Sparse& matrix, Dtype dtype);

/// The same entries with pointers from 0 on: alone, where rows of a larger matrix were shared.
HR_API Sparse packed(const Sparse& matrix);

/// The same entries with indices and pointers as int32 or int64. Throws InvalidArgumentError where
/// they do not fit.
HR_API Sparse with_index_dtype(const Sparse& matrix, Dtype dtype);

/// All elements, row-major.
HR_API Tensor to_dense(const Sparse& matrix);

/// The number of entries in each column, int64.
HR_API Tensor column_counts(const Sparse& matrix);

/// The dtype of the indices of a matrix that this library makes: int32 where all of them fit.
HR_API Dtype index_dtype(int64_t rows, int64_t columns, int64_t entries);

}  // namespace hr
