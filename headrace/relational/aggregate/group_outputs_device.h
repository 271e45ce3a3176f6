// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: aggregates of groups from what was folded, as columns hold them.
#pragma once
#include "headrace/relational/aggregate/aggregate_plan.h"
#include "headrace/relational/aggregate/device_folds.h"
#include "headrace/relational/aggregate/partition_folds_kernels.h"

#include <cstdint>
#include <cstring>

namespace hr::cuda::groups {

/// What an aggregate of one accumulator or none writes to `to`.
inline ValueOutput output_of(const PlannedAggregate& aggregate, std::byte* to) {
  const AggregateRequest& request = aggregate.request;
  ValueOutput out{};
  out.to = to;
  out.width = static_cast<int>(aggregate.dtype.storage().size_bytes());
  out.is_count = aggregate.accumulators.empty();
  out.is_floating = aggregate.dtype.is_floating();
  out.is_mean = request.aggregate == Aggregate::kMean;
  out.fewest =
      aggregate_row(request.aggregate).fewest_values(request.min_count, request.ddof, request.rank);
  out.keeps_few = request.aggregate == Aggregate::kSum || request.aggregate == Aggregate::kProduct;
  out.nan_is_value = request.nan_is_value && out.is_floating;
  out.is_min = request.aggregate == Aggregate::kMin;
  return out;
}

__device__ __forceinline__ void store_word(std::byte* to, int64_t at, int width, uint64_t word) {
  if (width == 8)
    reinterpret_cast<uint64_t*>(to)[at] = word;
  else if (width == 4)
    reinterpret_cast<uint32_t*>(to)[at] = static_cast<uint32_t>(word);
  else if (width == 2)
    reinterpret_cast<uint16_t*>(to)[at] = static_cast<uint16_t>(word);
  else
    reinterpret_cast<uint8_t*>(to)[at] = static_cast<uint8_t>(word);
}

/// How many values a group has, of whose rows some are null or NaN; where NaN is a value `state`
/// becomes it.
__device__ __forceinline__ int64_t values_of(const ValueOutput& out, uint32_t rows,
                                             uint32_t missing, uint64_t& state) {
  constexpr uint64_t kNanWord = 0x7ff8000000000000;
  if (!out.nan_is_value) return int64_t{rows} - missing;
  if (missing > 0 && (!out.is_min || missing == rows)) state = kNanWord;
  return rows;
}

/// The bits of an aggregate of a group with this number of values.
__device__ __forceinline__ uint64_t final_word(const ValueOutput& out, uint64_t state,
                                               int64_t values) {
  uint64_t word = out.is_count ? static_cast<uint64_t>(values) : state;
  if (out.is_mean) word = word_of(value_of<double>(word) / static_cast<double>(values));
  if (values < out.fewest && !out.keeps_few) word = 0;
  if (out.is_floating && out.width == 4) {
    const auto value = static_cast<float>(value_of<double>(word));
    uint32_t small;
    memcpy(&small, &value, sizeof small);
    word = small;
  }
  return word;
}

}  // namespace hr::cuda::groups
