// SPDX-License-Identifier: Apache-2.0
// The transpose of a sparse matrix in its own layout: rows become sorted rows of columns.
#pragma once
#include "headrace/data/sparse.h"

namespace hr {

/// The transpose; where rows ascend all of its rows are sorted, entries of one place stay in their
/// order. About 6 ns an entry and core, and the bytes of the matrix in temporary memory; 2 ns and
/// none for a band: rows of neighbouring columns that begin and end in order.
HR_API Sparse transposed(const Sparse& matrix);

}  // namespace hr
