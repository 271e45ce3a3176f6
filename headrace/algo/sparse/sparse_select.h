// SPDX-License-Identifier: Apache-2.0
// Rows, columns and elements of sparse matrices.
#pragma once
#include "headrace/data/sparse.h"

namespace hr {

/// The rows of these numbers (int64, 1-D), in that order. Throws InvalidArgumentError for one that
/// is not there.
HR_API Sparse take_rows(const Sparse& matrix, const Tensor& rows);

/// The columns of these numbers (int64, 1-D), also several times; column i of the result is
/// columns[i]. Entries stay in the order of their rows, so that sorted rows stay sorted for columns
/// that ascend. Throws InvalidArgumentError for one that is not there.
HR_API Sparse take_columns(const Sparse& matrix, const Tensor& columns);

/// The elements at (rows[i], columns[i]), int64: entries of one place added in their order, 0 where
/// there is none. Throws InvalidArgumentError for places outside.
HR_API Tensor take_elements(const Sparse& matrix, const Tensor& rows, const Tensor& columns);

/// The elements of a dense matrix of the same shape and dtype, strided as it may be, at the places
/// of the entries.
HR_API Tensor dense_at_entries(const Sparse& matrix, const Tensor& dense);

/// The entries that are not 0 (NaN is not).
HR_API Sparse without_zeros(const Sparse& matrix);

/// The entries on and below (`lower`), or on and above, the diagonal that begins in column
/// `diagonal`.
HR_API Sparse triangle(const Sparse& matrix, int64_t diagonal, bool lower);

/// The largest or smallest element of each row, 0 counted where a column has no entry; NaN where
/// one is. Throws InvalidArgumentError for rows without columns.
HR_API Tensor row_extremes(const Sparse& matrix, bool largest);

}  // namespace hr
