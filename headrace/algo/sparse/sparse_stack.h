// SPDX-License-Identifier: Apache-2.0
// Sparse matrices made of several.
#pragma once
#include "headrace/data/sparse.h"

#include <span>

namespace hr {

/// Matrices below each other. All have one dtype and, unless `diagonal`, as many columns; with it,
/// each stands right of those before it: a block diagonal. Throws InvalidArgumentError and
/// TypeMismatchError otherwise.
HR_API Sparse stack_rows(std::span<const Sparse> parts, bool diagonal = false);

/// Matrices side by side, of one dtype and as many rows.
HR_API Sparse stack_columns(std::span<const Sparse> parts);

/// The Kronecker product: each element of `left` times all of `right`. Rows are as sorted as those
/// of the factors. Throws InvalidArgumentError where its size does not fit into int64.
HR_API Sparse kron(const Sparse& left, const Sparse& right);

}  // namespace hr
