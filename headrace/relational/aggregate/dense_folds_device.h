// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: folds of few slots, run by run.
#pragma once
#include "headrace/algo/keys/normalized_keys_device.h"
#include "headrace/relational/aggregate/device_folds.h"

#include <cstdint>
#include <vector>

namespace hr::cuda {

/// The most slots of a part: three blocks of a processor have room for their states.
inline constexpr int64_t kMostShared = 4096;

/// Folds every run: one block of threads for each part of a run. `sums_doubles`: all aggregates are
/// sums of float64. `tables` keeps the tables that the kernels read.
void fold_runs(DeviceCall& call, const NormalizedKeys& packed, std::vector<Buffer>& tables,
               const groups::Runs& all, int64_t runs, bool sums_doubles);

}  // namespace hr::cuda
