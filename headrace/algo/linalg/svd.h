// SPDX-License-Identifier: Apache-2.0
// Singular values and vectors by one-sided Jacobi rotations.
#pragma once
#include "headrace/data/tensor.h"

namespace hr {

enum class SvdVectors { kNone, kReduced, kFull };

struct Svd {
  Tensor u;   ///< [..., rows, min(rows, columns)], full: [..., rows, rows]; columns of length 1
  Tensor s;   ///< [..., min(rows, columns)], falling
  Tensor vh;  ///< [..., min(rows, columns), columns], full: [..., columns, columns]
};

/// A = U diag(s) V^T of one matrix or of a stack. Reflections with exchanged columns first; then
/// rows of R of about one size (within 2^-13) are turned by the eigenvectors of their products;
/// then rotations of pairs until all rows are orthogonal (Demmel and Veselic 1992, Drmac and
/// Veselic 2008). So small singular values of graded matrices are exact to 12 digits or more, as
/// large ones are; below 1e-140 of the largest entry they may be zero. Values alone, where they are
/// within 2^16 of each other, are those of the bidiagonal form, exact to some 1e-16 of the largest.
/// Float64 inside; float32 for float32, else float64. O(rows columns^2) and some ten times
/// columns^3; the same bits for any number of threads. Throws TypeMismatchError unless `a` is real
/// and has two or more dimensions, InvalidArgumentError for NaN and infinite entries.
HR_API Svd svd(const Tensor& a, SvdVectors vectors = SvdVectors::kReduced);

struct Lstsq {
  Tensor x;  ///< [columns of a, columns of b]
  Tensor
      residuals;  ///< sums of squares, [columns of b]; empty unless of full rank and rows > columns
  int64_t rank = 0;
  Tensor s;  ///< singular values of `a`
};

/// The shortest X for which A X is nearest to B, matrices both. Singular values up to `cutoff`
/// times the largest count as zero. Throws as `svd`, and InvalidArgumentError for other numbers of
/// rows.
HR_API Lstsq lstsq(const Tensor& a, const Tensor& b, double cutoff);

}  // namespace hr
