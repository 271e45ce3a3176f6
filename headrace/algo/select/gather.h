// SPDX-License-Identifier: Apache-2.0
// Rows picked by position.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr {

/// Row `positions[k]` of `column` as row k; negative positions count from the end. `positions` is
/// 1-D and integer, any stride. Strings share their text. Parallel. Throws OutOfBoundsError
/// naming the first position that is out of range, TypeMismatchError for positions of another kind.
HR_API Column gather(const Column& column, const Tensor& positions);

/// The same where position -1 gives null: rows that a join found no match for.
HR_API Column gather_or_null(const Column& column, const Tensor& positions);

/// The same for rows (first dimension) of a tensor; one that is not contiguous is copied first,
/// which the ledger shows.
HR_API Tensor gather(const Tensor& tensor, const Tensor& positions);

}  // namespace hr
