// SPDX-License-Identifier: Apache-2.0
// Rows parted by ranges of a 64-bit key: what a device does with one range after the other.
#pragma once
#include "headrace/algo/sort/radix_partition.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace hr {

/// Keys that cut those of some columns (uint64, on the host, without nulls) into about `ranges`
/// ranges of equally many rows, from a sample: the first one of each range but the first. A key
/// with many rows has a range of its own.
std::vector<uint64_t> range_borders(std::span<const Column> columns, int64_t ranges);

/// The rows of such a column by range, in each in their order.
class KeySlices {
 public:
  /// Throws OutOfMemoryError.
  KeySlices(const Column& keys, const std::vector<uint64_t>& borders);

  int64_t count() const { return partition_.num_buckets(); }

  int64_t num_rows(int64_t slice) const { return partition_.size(slice); }

  /// Where the first row of a slice stands among those of all, one slice after the other.
  int64_t begin(int64_t slice) const { return partition_.begins()[static_cast<size_t>(slice)]; }

  Column keys(int64_t slice) const;
  /// The rows' numbers, int64.
  Tensor rows(int64_t slice) const;

 private:
  RadixPartition partition_;
  Buffer keys_;
  Buffer rows_;
};

}  // namespace hr
