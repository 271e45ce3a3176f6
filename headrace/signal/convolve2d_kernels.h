// SPDX-License-Identifier: Apache-2.0
// Kernel of convolve2d. Inputs are checked and not empty.
#pragma once
#include "headrace/signal/convolve2d.h"

namespace hr::cpu {

/// out[i][j] = sum over p, q of kernel[p][q] x[i + first_row - p][j + first_column - q].
struct Convolve2dJob {
  int64_t rows;
  int64_t columns;
  int64_t first_row;
  int64_t first_column;
  MatrixBoundary boundary;
  double fill;
};

void convolve2d(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, Buffer& out);

}  // namespace hr::cpu
