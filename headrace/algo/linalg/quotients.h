// SPDX-License-Identifier: Apache-2.0
// Singular values of matrices with two diagonals.
#pragma once
#include <cstdint>

namespace hr {

/// The singular values, in no order, of the matrix with this diagonal and this one above it, by the
/// differential quotient-difference algorithm with shifts (Fernando and Parlett 1994): each has its
/// own digits. False if that does not converge to finite values. The diagonals are used up.
bool bidiagonal_values(double* diagonal, double* beside, double* values, int64_t size);

}  // namespace hr
