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

/// Folds the runs, a block of threads each part of each. `sums_doubles`: there is nothing but sums
/// of float64. Tables of the call are kept in `tables`.
void fold_runs(DeviceCall& call, const NormalizedKeys& packed, std::vector<Buffer>& tables,
               const groups::Runs& all, int64_t runs, bool sums_doubles);

}  // namespace hr::cuda
