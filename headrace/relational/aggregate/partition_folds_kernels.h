// SPDX-License-Identifier: Apache-2.0
// Kernels of group-by of many groups on a CUDA device: what a partition of sorted keys folds.
#pragma once
#include "headrace/algo/aggregate/accumulators.h"
#include "headrace/data/device.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace hr::cuda {

/// A key column of the result.
struct KeyOutput {
  std::byte* to;
  uint64_t least;
  uint64_t mask;
  int shift;
  int width;
};

/// An aggregate of the result.
struct ValueOutput {
  std::byte* to;
  uint8_t* valid;   // a byte a group; null: all are there
  unsigned* nulls;  // how many are null
  int64_t fewest;
  int width;
  bool is_count;  // of values; else what was folded
  bool is_mean;
  bool is_floating;  // of the result
  bool keeps_few;    // too few values: the state as it is
  bool nan_is_value;
  bool is_min;
};

/// Rows whose keys are sorted by the bits above `slot_bits`, stably.
struct SortedPartitions {
  const uint32_t* keys;
  int64_t rows;
  int64_t partitions;
  int slot_bits;     // kFewSlotBits or kManySlotBits
  uint64_t dropped;  // the key of no group
  int64_t* begins;   // of each partition, and the end of the last one
  int64_t* places;   // of each partition's groups in the result, and their number
};

inline constexpr int kFewSlotBits = 8;
inline constexpr int kManySlotBits = 11;

/// Fills `begins` and, with the groups of each partition, `places`.
void count_groups(DeviceCall& call, const SortedPartitions& sorted);

/// The same where each slot is a group.
void place_groups(DeviceCall& call, const SortedPartitions& sorted);

/// What one fold of a column gives.
struct PartitionFold {
  const uint64_t* words;  // sorted with the keys; null: rows are counted only
  ValueClass value_class;
  Accumulator accumulator;
  uint64_t start;
  std::span<const KeyOutput> keys;
  std::span<const ValueOutput> outputs;
};

/// Folds the rows of each group in their order, a block a partition, and writes the groups in the
/// order of their keys.
void fold_partitions(const DeviceCall& call, const SortedPartitions& sorted,
                     const PartitionFold& fold);

}  // namespace hr::cuda
