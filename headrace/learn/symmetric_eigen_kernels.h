// SPDX-License-Identifier: Apache-2.0
// The loops of symmetric_eigen that touch whole rows. No element depends on the vector width.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Leaves the diagonal in `diagonal`, what stands beside it in `beside`, and in `a` the transpose
/// of the orthogonal matrix that gives the input back.
void reduce_to_tridiagonal(double* a, double* diagonal, double* beside, double* betas, int64_t n);

/// Turns two rows of `n` values by the angle of cosine `c` and sine `s`.
void rotate_rows(double* upper, double* lower, double c, double s, int64_t n);

}  // namespace hr::cpu
