// SPDX-License-Identifier: Apache-2.0
// The loops of factorizations over rows of `n` values. No element depends on the vector width.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/algo/linalg/triangular.h"

#include <cstdint>

namespace hr::cpu {

/// Sum of products, in 16 lanes and one tree.
double dot(const double* a, const double* b, int64_t n);

/// to += scale * from.
void add_scaled(double* to, double scale, const double* from, int64_t n);

/// out[i]: the sum of products of row i of `rows` and `x`, by fma in 16 lanes and one tree.
void dots(const MatrixView<const double>& rows, const double* x, double* out);

/// to += the sum of factors[i] times row i, one row after the other by fma.
void add_rows(const MatrixView<const double>& rows, const double* factors, double* to);

/// Adds to `to` what rows [begin, end) of the upper triangle of a symmetric matrix, and the rows
/// below that mirror them, give times `x`: each is read once. Columns are whole lanes, squares of
/// 16 on the diagonal are filled, `begin` is a multiple of 16.
void multiply_symmetric(const MatrixView<const double>& a, int64_t begin, int64_t end,
                        const double* x, double* to);

/// Turns two rows by the angle of cosine `c` and sine `s`.
void rotate_rows(double* upper, double* lower, double c, double s, int64_t n);

/// The most rows of a triangle that `substitute` takes.
inline constexpr int64_t kTriangleRows = 64;

/// X of L X = B in the place of B, whose rows lie contiguous: each row less its products with those
/// before it, one after the other.
void substitute(const MatrixView<const double>& l, Triangle triangle, const MatrixView<double>& b);

}  // namespace hr::cpu
