// SPDX-License-Identifier: Apache-2.0
// Kernels of entry_weights for CUDA.
#pragma once
#include "headrace/graph/structure/entry_weights.h"

namespace hr::cuda {

/// As hr::entry_weights, on the device of the rows, of checked weights.
Buffer entry_weights(std::string_view op, const Csr& csr, const Column& weights);

/// The place of the first value that the rule refuses; -1 for none.
int64_t first_bad_value(std::string_view op, const Column& values, WeightRule rule);

/// A value of a column on the device.
double value_there(std::string_view op, const Column& values, int64_t place);

}  // namespace hr::cuda
