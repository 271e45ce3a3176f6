// SPDX-License-Identifier: Apache-2.0
// Kernels of neighbors for CUDA.
#pragma once
#include "headrace/learn/distance_tiles.h"

namespace hr::cuda {

/// The most neighbours that the kernels find.
inline constexpr int64_t kMostNeighbors = 256;

/// Up to 1,024 rows of a matrix on a device, evenly spread, as float64 on the host.
Tensor sample_rows(const Tensor& x);

/// `nearest_neighbors` of checked rows and queries on a device, Euclidean distances or their
/// squares. Any frame is right.
Neighbors nearest_neighbors(const Tensor& rows, const Tensor& queries, int64_t count, bool squared,
                            bool others, const FilterFrame& frame);

}  // namespace hr::cuda
