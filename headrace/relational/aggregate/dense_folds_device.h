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

/// The slots of rows as the kernels read them: numbers of 4 or of 8 bytes, less `least`.
struct RowSlots {
  const int32_t* narrow = nullptr;
  const int64_t* wide = nullptr;
  uint64_t least = 0;

  template <class F>
  void visit(F&& f) const {
    if (narrow)
      f(IntegerKey<int32_t>{narrow, least});
    else
      f(IntegerKey<int64_t>{wide, least});
  }
};

/// Folds every run: one block of threads for each part of a run. `sums_doubles`: all aggregates are
/// sums of float64.
void fold_runs(DeviceCall& call, const RowSlots& slots, const groups::Runs& all, int64_t runs,
               bool sums_doubles);

}  // namespace hr::cuda
