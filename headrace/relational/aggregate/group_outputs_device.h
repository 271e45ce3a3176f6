// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: aggregates of groups from what was folded, as columns hold them.
#pragma once
#include "headrace/algo/bits/validity_device.h"
#include "headrace/relational/aggregate/aggregate_plan.h"
#include "headrace/relational/aggregate/device_folds.h"
#include "headrace/relational/aggregate/partition_folds_kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace hr::cuda::groups {

/// What an aggregate of one accumulator or none writes to `to`.
inline ValueOutput output_of(const PlannedAggregate& aggregate, std::byte* to) {
  const AggregateRequest& request = aggregate.request;
  ValueOutput out{};
  out.to = to;
  out.width = static_cast<int>(aggregate.dtype.storage().size_bytes());
  out.is_count = aggregate.accumulators.empty() && aggregate.ranked < 0;
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

/// An aggregate of a group: its bits, and of how many values.
struct GroupValue {
  uint64_t word;
  int64_t values;
};

/// Of a group of `rows` rows, some of which are null or NaN.
__device__ __forceinline__ GroupValue group_value(const ValueOutput& out, uint64_t state,
                                                  uint32_t rows, uint32_t missing) {
  if (out.nan_is_value && missing > 0 && (!out.is_min || missing == rows))
    return {out.width == 4 ? 0x7fc00000u : 0x7ff8000000000000u, rows};
  const int64_t values = int64_t{rows} - (out.nan_is_value ? 0 : missing);
  uint64_t word = out.is_count ? static_cast<uint64_t>(values) : state;
  if (out.is_mean) word = word_of(value_of<double>(word) / static_cast<double>(values));
  if (values < out.fewest && !out.keeps_few) word = 0;
  if (out.is_floating && out.width == 4) {
    const auto value = static_cast<float>(value_of<double>(word));
    uint32_t small;
    memcpy(&small, &value, sizeof small);
    word = small;
  }
  return {word, values};
}

static __global__ void group_values_kernel(const __grid_constant__ ValueOutput out,
                                           const uint64_t* __restrict__ states,
                                           const uint32_t* __restrict__ sizes,
                                           const uint32_t* __restrict__ missing, int64_t groups) {
  const int64_t group = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (group >= groups) return;
  const GroupValue made =
      group_value(out, states ? states[group] : 0, sizes[group], missing ? missing[group] : 0);
  store_word(out.to, group, out.width, made.word);
  if (!out.valid) return;
  out.valid[group] = made.values >= out.fewest;
  if (made.values < out.fewest) atomicAdd(out.nulls, 1u);
}

/// The aggregates of groups as columns.
class GroupColumns {
 public:
  GroupColumns(DeviceCall& call, std::span<const PlannedAggregate> aggregates, int64_t groups,
               Place place)
      : call_(call), aggregates_(aggregates), groups_(groups), place_(place) {
    const auto bytes = static_cast<int64_t>(sizeof(unsigned) * aggregates.size());
    room_.push_back(call.scratch(std::max<int64_t>(bytes, 1)));
    nulls_ = call.writes_as<unsigned>(room_.back());
    call.fill(reinterpret_cast<std::byte*>(nulls_), 0, bytes);
    for (size_t k = 0; k < aggregates.size(); ++k) {
      buffers_.push_back(allocate_result(groups * aggregates[k].dtype.size_bytes(), place));
      ValueOutput out = output_of(aggregates[k], call.writes(buffers_.back()));
      out.nulls = nulls_ + k;
      if (out.fewest > 0) {
        room_.push_back(call.scratch(std::max<int64_t>(groups, 1)));
        out.valid = call.writes_as<uint8_t>(room_.back());
      }
      outputs_.push_back(out);
    }
  }

  const std::vector<ValueOutput>& outputs() const { return outputs_; }

  /// Writes an aggregate from what was folded and counted for each group; null: nothing was.
  void write(size_t k, const uint64_t* states, const uint32_t* sizes, const uint32_t* missing) {
    constexpr int kThreads = 256;
    group_values_kernel<<<blocks_of(groups_, kThreads), kThreads, 0,
                          static_cast<cudaStream_t>(call_.stream())>>>(outputs_[k], states, sizes,
                                                                       missing, groups_);
  }

  /// Once all are written. Waits for their numbers of nulls.
  std::vector<Column> columns() {
    std::vector<unsigned> nulls(aggregates_.size());
    const auto can_be_null = [](const ValueOutput& out) { return out.valid != nullptr; };
    if (std::ranges::any_of(outputs_, can_be_null))
      call_.fetch(nulls.data(), nulls_, static_cast<int64_t>(sizeof(unsigned) * nulls.size()));
    std::vector<Column> made;
    for (size_t k = 0; k < aggregates_.size(); ++k) {
      const Buffer bits =
          nulls[k] > 0 ? validity_of(call_, outputs_[k].valid, groups_, place_) : Buffer();
      made.push_back(Column(aggregates_[k].dtype, groups_, buffers_[k], bits, nulls[k]));
    }
    return made;
  }

 private:
  DeviceCall& call_;
  const std::span<const PlannedAggregate> aggregates_;
  const int64_t groups_;
  const Place place_;
  unsigned* nulls_ = nullptr;
  std::vector<Buffer> room_{};
  std::vector<Buffer> buffers_{};
  std::vector<ValueOutput> outputs_{};
};

}  // namespace hr::cuda::groups
