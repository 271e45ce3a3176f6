// SPDX-License-Identifier: Apache-2.0
// Systems of equations, inverses and determinants by LU factors with partial pivoting.
#pragma once
#include "headrace/data/tensor.h"

#include <string>

namespace hr {

// Matrices or stacks of them, whose leading dimensions broadcast. Float64 inside; float32 for
// float32, else float64. Elimination by halves of the columns, O(2 n^3 / 3); the same bits for any
// number of threads. All throw TypeMismatchError unless the operands are real and have two or more
// dimensions, InvalidArgumentError unless `a` is square.

/// X of A X = B; [..., n, columns]. Throws InvalidArgumentError, which names the column of the
/// pivot, for a singular matrix and for sides that do not fit.
HR_API Tensor solve(const Tensor& a, const Tensor& b);

/// Why such a system has no kernel for CUDA; empty: it has one, which eliminates by columns and so
/// rounds otherwise.
HR_API std::string why_no_solve_kernel(const Tensor& a, const Tensor& b);

/// The same of `inv`, `det` and `slogdet`.
HR_API std::string why_no_lu_kernel(const Tensor& a);

/// Throws InvalidArgumentError, which names the column of the pivot, for a singular matrix.
HR_API Tensor inv(const Tensor& a);

/// Zero for a singular matrix; may overflow, unlike `slogdet`. The shape of the stack.
HR_API Tensor det(const Tensor& a);

struct Slogdet {
  Tensor sign;       ///< -1, 0 or 1
  Tensor logabsdet;  ///< natural logarithm of the absolute value, -inf for a singular matrix
};

HR_API Slogdet slogdet(const Tensor& a);

}  // namespace hr
