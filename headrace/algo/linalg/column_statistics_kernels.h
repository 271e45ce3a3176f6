// SPDX-License-Identifier: Apache-2.0
// Kernels of column_statistics. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/data/tensor.h"

namespace hr::cpu {

/// Count, sum, least and greatest of each part: `out[part][4][columns]`.
void column_statistics(const Tensor& x, double* out);

/// Sums of squares apart from the means of each part: `out[part][columns]`.
void column_squares(const Tensor& x, const double* means, double* out);

}  // namespace hr::cpu

namespace hr::cuda {

// The same of rows on a device; means and results are on the host.

void column_statistics(const Tensor& x, double* out);
void column_squares(const Tensor& x, const double* means, double* out);

}  // namespace hr::cuda
