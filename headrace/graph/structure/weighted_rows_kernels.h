// SPDX-License-Identifier: Apache-2.0
// Kernels of weighted_rows for CUDA; for `_cuda.cu` files.
#pragma once
#include "headrace/graph/structure/device_rows.h"
#include "headrace/graph/structure/weighted_rows.h"

namespace hr::cuda {

/// As hr::WeightedRows, on a device.
struct WeightedRows {
  int64_t vertices = 0;
  int64_t entries = 0;
  Room<int64_t> offsets{};
  Room<uint32_t> targets{};
  Room<uint32_t> weights{};  ///< of entries, if their sum has 32 bits
  Room<uint64_t> wide{};     ///< else; neither: 1 each, 2 of a loop
  Room<int64_t> degrees{};
  int64_t total = 0;
  double scale = 1;
  bool has_loops = false;

  Rows rows() const { return {offsets.data, targets.data, nullptr, vertices, entries}; }
};

/// As hr::weighted_rows; `weights`: float64 of entries, or none. Shares the rows.
WeightedRows weighted_rows(DeviceCall& call, const Csr& csr, const Buffer& weights);

/// As hr::number_groups, of `groups` [count], ids below `bound`.
int64_t number_groups(DeviceCall& call, uint32_t* groups, int64_t count, int64_t bound);

/// As hr::aggregate, of numbered groups.
WeightedRows aggregate(DeviceCall& call, const WeightedRows& rows, const uint32_t* groups,
                       int64_t count);

/// The same rows on the host.
hr::WeightedRows fetched_rows(const DeviceCall& call, const WeightedRows& rows);

}  // namespace hr::cuda
