// SPDX-License-Identifier: Apache-2.0
// Kernels of local_moving for CUDA; for `_cuda.cu` files.
#pragma once
#include "headrace/graph/community/local_moving.h"
#include "headrace/graph/structure/weighted_rows_kernels.h"

namespace hr::cuda {

/// As hr::move_vertices, hr::refine and hr::modularity_alone, of more vertices than decide one by
/// one: the same moves, as all sums are whole and ties go to the least.
int64_t move_vertices(DeviceCall& call, const WeightedRows& rows, Resolution resolution,
                      const MoveRules& rules, const Room<uint32_t>& groups);
Room<uint32_t> refine(DeviceCall& call, const WeightedRows& rows, Resolution resolution,
                      uint64_t seed, const Room<uint32_t>& groups);
double modularity_alone(DeviceCall& call, const WeightedRows& rows, double resolution);

}  // namespace hr::cuda
