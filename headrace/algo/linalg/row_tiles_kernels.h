// SPDX-License-Identifier: Apache-2.0
// The loops of RowTiles.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"

namespace hr::cpu {

/// `(x - shift[j]) * scale[j]`; null: without.
template <class T>
void read_tile(const AnyMatrix& x, const double* shift, const double* scale,
               const MatrixView<T>& to);

}  // namespace hr::cpu
