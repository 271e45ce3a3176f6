// SPDX-License-Identifier: Apache-2.0
// Sparse matrices from the row, column and value of each entry (COO).
#pragma once
#include "headrace/data/sparse.h"

namespace hr {

/// Throws InvalidArgumentError for parts that differ in length and for places outside of the shape,
/// TypeMismatchError for places that are not int32 or int64, both the same.
HR_API void check_coordinates(int64_t rows, int64_t columns, const Tensor& row,
                              const Tensor& column, const Tensor& data);

/// Values at (row[i], column[i]), int32 or int64; entries of a row stay in their order, also those
/// of one place. Where rows ascend, columns and values are shared and one pass reads the places;
/// else about 6 ns an entry and core. Throws what check_coordinates throws.
HR_API Sparse sparse_from_coordinates(int64_t rows, int64_t columns, const Tensor& row,
                                      const Tensor& column, const Tensor& data);

/// The same with each row sorted by columns and the values of one place added in their order, as
/// `canonical` does. The pass that reads the places also tells whether that is so already.
HR_API Sparse canonical_from_coordinates(int64_t rows, int64_t columns, const Tensor& row,
                                         const Tensor& column, const Tensor& data);

}  // namespace hr
