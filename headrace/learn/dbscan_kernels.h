// SPDX-License-Identifier: Apache-2.0
// Kernels of dbscan for CUDA.
#pragma once
#include "headrace/learn/distance_tiles.h"

namespace hr::cuda {

/// What tells core rows.
struct Density {
  double epsilon;
  double least_weight;
};

/// The lowest core row of each row's cluster, or -1, and which rows are core rows, on the host. Of
/// up to three columns on a device and Euclidean distances, by the host's grid; false if there is
/// none. `weights` has no elements for ones.
bool cluster_by_grid(const Tensor& x, const Tensor& weights, Density density, int64_t* lowest,
                     uint8_t* core);

/// The same by tiles of all pairs, of Euclidean distances or their squares. Any frame is right.
void cluster_by_tiles(const Tensor& x, const Tensor& weights, Density density, bool squared,
                      const FilterFrame& frame, int64_t* lowest, uint8_t* core);

}  // namespace hr::cuda
