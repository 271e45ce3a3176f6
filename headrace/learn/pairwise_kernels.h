// SPDX-License-Identifier: Apache-2.0
// Kernels of distances in float64.
#pragma once
#include "headrace/learn/neighbors.h"

#include <cstdint>

namespace hr::cpu {

/// Reduced distances from a point to `count` others, of which `columns` has coordinate j side by
/// side from `j * count` on; dot products for cosine.
void point_distances(Metric metric, const double* point, const double* columns, int64_t dimensions,
                     int64_t count, double* out);

/// The sum of `values` times `weights` (null: ones), in 8 sums and one tree.
double sum_in_lanes(const double* values, const double* weights, int64_t count);

/// Square roots in place.
void square_roots(double* values, int64_t count);

}  // namespace hr::cpu
