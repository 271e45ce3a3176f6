// SPDX-License-Identifier: Apache-2.0
// Rows that a mask picks on a CUDA device, each column read and written once.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr {

/// `filter` of values on a CUDA device: the rows where `mask`, a bool column (null counts as false)
/// or a 1-D bool array on the same device, is true, in order; strings share their text. Without
/// positions: a pass over the mask, one over the rows. Waits for the number of rows, and of nulls.
/// Throws TypeMismatchError for another mask, InvalidArgumentError when the lengths differ.
HR_API Column compact_rows(const Column& column, const Column& mask);
HR_API Column compact_rows(const Column& column, const Tensor& mask);

/// The same for rows (first dimension) of a contiguous array.
HR_API Tensor compact_rows(const Tensor& tensor, const Column& mask);
HR_API Tensor compact_rows(const Tensor& tensor, const Tensor& mask);

}  // namespace hr
