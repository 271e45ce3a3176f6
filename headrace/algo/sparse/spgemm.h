// SPDX-License-Identifier: Apache-2.0
// Sparse times sparse (SpGEMM), row by row.
#pragma once
#include "headrace/data/sparse.h"

namespace hr {

/// The product of matrices of one dtype; its rows are sorted, with one entry for each column that a
/// product meets (also where products cancel to 0). The products of an entry are added in the order
/// of the left row, to 0: the same bits for any number of threads. Integers wrap.
///
/// Gustavson's two passes (count, then add). Where others hash a row (Nagasaka and others, Parallel
/// Computing 2019), a bitmap of the columns here says both which a row has, in order, and by
/// counted bits where the sum of each stands: no table, no sort, 3/16 byte a column and worker.
/// Rows of up to 8 products keep their sums in order, those of neighbouring columns (banded
/// matrices) in registers and are counted by their ends. About 3 ns a product and core, 1.5 ns in
/// bands. The result is
/// allocated before anything is multiplied.
///
/// Throws InvalidArgumentError for sizes that do not fit, TypeMismatchError for dtypes that differ,
/// OutOfMemoryError.
HR_API Sparse multiply(const Sparse& left, const Sparse& right);

}  // namespace hr
