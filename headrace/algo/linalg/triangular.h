// SPDX-License-Identifier: Apache-2.0
// Triangular systems of equations.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"

namespace hr {

enum class Triangle { kLower, kUpper, kUnitLower };

/// Solves L X = B in place of `b`, whose rows lie contiguous; of `l` only the triangle is read, in
/// any strides. Blocks of 64 rows, the rest by `multiply`. A zero on the diagonal gives infinities.
void solve_triangular(const MatrixView<const double>& l, Triangle triangle,
                      const MatrixView<double>& b);

}  // namespace hr
