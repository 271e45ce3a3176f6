// SPDX-License-Identifier: Apache-2.0
// Rows of a matrix of any strides, converted as they are read.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr::cpu {

/// `(x - shift[j]) * scale`, without a shift when null, of `count` rows from `first` on, one after
/// the other; float64 inside. T is float or double, `x` float32 or float64.
template <class T>
void read_rows(const Tensor& x, int64_t first, int64_t count, const double* shift, double scale,
               T* out);

/// Squared distances of a point to `count` others, of which `columns` has coordinate j side by side
/// from `j * count` on. Each is a sum over j in order.
void squared_distances(const double* point, const double* columns, int64_t dimensions,
                       int64_t count, double* out);

}  // namespace hr::cpu
