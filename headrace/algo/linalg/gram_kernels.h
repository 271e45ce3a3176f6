// SPDX-License-Identifier: Apache-2.0
// Kernels of gram. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/data/tensor.h"

#include <vector>

namespace hr::cuda {

// `parts` are one matrix of floats, and perhaps another of float64 next to it; `weights` may be
// null. Results are on the host.

/// The lower triangle of the products of all columns less `shift` (on the host, or null).
void gram(const std::vector<Tensor>& parts, const double* shift, const Tensor* weights,
          double* products);

void column_sums(const std::vector<Tensor>& parts, const Tensor* weights, double* sums);

}  // namespace hr::cuda
