// SPDX-License-Identifier: Apache-2.0
// Group-by of many groups on a CUDA device. Keys are sorted stably by their upper bits, each time
// with the values of one column, until equal ones are in one partition, which a block of threads
// folds: its slots with rows become groups, in the order of keys.
#include "headrace/algo/keys/normalized_keys_device.h"
#include "headrace/relational/aggregate/group_outputs_device.h"
#include "headrace/relational/aggregate/partition_folds_kernels.h"
#include "headrace/relational/aggregate/partitioned_aggregate_kernels.h"

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <optional>
#include <type_traits>
#include <utility>

namespace hr::cuda {

namespace {

using namespace groups;

constexpr int kRowThreads = 256;

/// Partitions of about a tile of rows.
int slot_bits_of(uint64_t domain, int64_t rows) {
  constexpr int64_t kRowsOfMany = 4;  // of a slot: then a partition of many has too many rows
  return static_cast<int64_t>(domain) * kRowsOfMany < rows ? kFewSlotBits : kManySlotBits;
}

template <class Keys>
__global__ void sample_kernel(const __grid_constant__ Keys keys, int64_t count, int64_t step,
                              uint64_t* out) {
  const int64_t i = int64_t{blockIdx.x} * kRowThreads + threadIdx.x;
  if (i < count) out[i] = keys(i * step);
}

template <class Keys>
__global__ void keys_kernel(const __grid_constant__ Keys keys, int64_t rows,
                            uint32_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kRowThreads + threadIdx.x;
  if (i < rows) out[i] = static_cast<uint32_t>(keys(i));
}

/// The words of a column that is not one of words already.
__global__ void words_kernel(const __grid_constant__ Input input, int64_t rows,
                             uint64_t* __restrict__ out) {
  const int64_t row =
      int64_t{blockIdx.x} * kTile + threadIdx.x / 32 * 32 * kItems + threadIdx.x % 32;
  uint64_t words[kItems];
  load(input, TileRows{row, static_cast<int>(min(rows - row, int64_t{kTile}))}, words);
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int64_t at = row + 32 * k;
    if (at >= rows) continue;
    out[at] = input.valid && !bit_at(input.valid, input.offset + at)
                  ? word_of(std::numeric_limits<double>::quiet_NaN())
                  : words[k];
  }
}

class PartitionedFold {
 public:
  PartitionedFold(const AggregatePlan& plan, const NormalizedKeys& packed, int64_t groups)
      : plan_(plan),
        groups_(groups),
        packed_(packed),
        fields_(packed.key_fields()),
        place_(fields_[0].column.place()),
        rows_(packed.num_rows()),
        slot_bits_(slot_bits_of(packed.domain(), rows_)),
        partitions_(static_cast<int64_t>((packed.domain() - 1) >> slot_bits_) + 1),
        bits_(std::max(static_cast<int>(std::bit_width(packed.domain() - 1)), slot_bits_ + 1)),
        call_("groupby", place_) {}

  Grouped run() {
    sorted_ = scratch<uint32_t>(rows_);
    with_keys(call_, packed_, buffers_, [&]<class Keys>(const Keys& keys) {
      if constexpr (std::is_same_v<Keys, IntegerKey<int32_t>>)
        if (keys.least == 0) {
          keys_ = reinterpret_cast<const uint32_t*>(keys.values);
          return;
        }
      auto* const made = scratch<uint32_t>(rows_);
      keys_kernel<Keys>
          <<<blocks_of(rows_, kRowThreads), kRowThreads, 0, stream()>>>(keys, rows_, made);
      keys_ = made;
    });
    // Which aggregates each column gives; those of no values come with the first.
    std::vector<size_t> inputs;
    for (size_t k = 0; k < plan_.inputs.size(); ++k)
      if (has_values(static_cast<int64_t>(k))) inputs.push_back(k);
    sort_rows(inputs.empty() ? -1 : static_cast<int64_t>(inputs[0]));
    const int64_t groups = count();
    if (groups == 0) return nothing();
    make_outputs(groups);
    if (inputs.empty()) fold({}, rest_of(-1));
    first_input_ = inputs.empty() ? 0 : inputs[0];
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (k > 0) sort_rows(static_cast<int64_t>(inputs[k]));
      fold_input(inputs[k]);
    }
    return finish(groups);
  }

 private:
  template <class T>
  T* scratch(int64_t count) {
    buffers_.push_back(
        call_.scratch(std::max<int64_t>(count, 1) * static_cast<int64_t>(sizeof(T))));
    return call_.writes_as<T>(buffers_.back());
  }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream()); }

  bool has_values(int64_t input) const {
    return input >= 0 &&
           plan_.inputs[static_cast<size_t>(input)].value_class != ValueClass::kNothing;
  }

  // Calls one of CUB's functions for the room that it needs, and then to work there.
  template <class F>
  void with_room(F&& work) {
    size_t bytes = 0;
    check_cuda("groupby", work(nullptr, bytes));
    const Buffer room = call_.scratch(static_cast<int64_t>(bytes));
    check_cuda("groupby", work(call_.writes(room), bytes));
  }

  // The words of an input: its own, or made ones.
  const uint64_t* words_of(const AccumulatorInput& input) {
    const Column& column = input.values;
    call_.reads(column.values_buffer());
    const bool nulls = column.null_count() > 0;
    if (nulls) call_.reads(column.validity_buffer());
    if (!nulls && column.dtype().storage().size_bytes() == 8 && !column.dtype().is_bool() &&
        value_class_of(column.dtype()) == input.value_class)
      return column.values_buffer().as<uint64_t>() + column.offset();
    Input made{};
    made.values = column.values_buffer().data();
    made.valid = nulls ? column.validity() : nullptr;
    made.offset = column.offset();
    made.type = column.dtype().storage().id();
    made.value_class = input.value_class;
    if (!words_) words_ = scratch<uint64_t>(rows_);
    words_kernel<<<blocks_of(rows_, kTile), kThreads, 0, stream()>>>(made, rows_, words_);
    return words_;
  }

  void sort_rows(int64_t input) {
    const auto rows = static_cast<unsigned>(rows_);
    if (input < 0)
      return with_room([&](void* room, size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(room, bytes, keys_, sorted_, rows, slot_bits_, bits_,
                                              stream());
      });
    if (!sorted_words_) sorted_words_ = scratch<uint64_t>(rows_);
    const uint64_t* const words = words_of(plan_.inputs[static_cast<size_t>(input)]);
    with_room([&](void* room, size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(room, bytes, keys_, sorted_, words, sorted_words_,
                                             rows, slot_bits_, bits_, stream());
    });
  }

  int64_t count() {
    partitions_of_rows_ = {sorted_,
                           rows_,
                           partitions_,
                           slot_bits_,
                           packed_.has_missing() ? packed_.missing() : ~uint64_t{0},
                           scratch<int64_t>(partitions_ + 1),
                           scratch<int64_t>(partitions_ + 1)};
    if (groups_ > 0) {
      place_groups(call_, partitions_of_rows_);
      return groups_;
    }
    count_groups(call_, partitions_of_rows_);
    int64_t groups = 0;
    call_.fetch(&groups, partitions_of_rows_.places + partitions_, 8);
    return groups;
  }

  Grouped nothing() {
    Grouped grouped;
    for (const KeyField& field : fields_) grouped.keys.push_back(field.column.slice(0, 0));
    for (const PlannedAggregate& each : plan_.aggregates)
      grouped.values.push_back(Column(each.dtype, 0, Buffer()));
    call_.finish(cudaGetLastError());
    return grouped;
  }

  void make_outputs(int64_t groups) {
    for (const KeyField& field : fields_) {
      const auto width = field.column.dtype().storage().size_bytes();
      key_buffers_.push_back(allocate_result(groups * width, place_));
      const int width_bits = std::bit_width(field.last);
      keys_left_.push_back({call_.writes(key_buffers_.back()), field.least,
                            width_bits == 0 ? 0 : ~uint64_t{0} >> (64 - width_bits),
                            field.shift & 63, static_cast<int>(width)});
    }
    made_.emplace(call_, plan_.aggregates, groups, place_);
  }

  // Aggregates of an accumulator of an input, or if it is -1 of how many values there are.
  std::vector<ValueOutput> outputs_of(int64_t input, int64_t accumulator) const {
    std::vector<ValueOutput> found;
    for (size_t k = 0; k < plan_.aggregates.size(); ++k) {
      const PlannedAggregate& each = plan_.aggregates[k];
      const bool is_of = input < 0 ? !has_values(each.input) : each.input == input;
      const int64_t own =
          each.accumulators.empty() ? -1 : static_cast<int64_t>(each.accumulators[0]);
      if (is_of && own == accumulator) found.push_back(made_->outputs()[k]);
    }
    return found;
  }

  // Those that only count, of an input or of all rows.
  std::vector<ValueOutput> rest_of(int64_t input) const { return outputs_of(input, -1); }

  void fold(PartitionFold work, const std::vector<ValueOutput>& outputs) {
    const std::vector<KeyOutput> keys = std::exchange(keys_left_, {});
    work.keys = keys;
    work.outputs = outputs;
    fold_partitions(call_, partitions_of_rows_, work);
  }

  void fold_input(size_t k) {
    const AccumulatorInput& input = plan_.inputs[k];
    std::vector<ValueOutput> counts = rest_of(static_cast<int64_t>(k));
    if (const std::vector<ValueOutput> sizes = rest_of(-1); k == first_input_ && !sizes.empty()) {
      if (input.can_miss())
        fold({}, sizes);
      else  // all rows have values
        counts.insert(counts.end(), sizes.begin(), sizes.end());
    }
    std::vector<Accumulator> accumulators = input.accumulators;
    if (accumulators.empty()) accumulators.push_back(Accumulator::kSum);
    for (size_t a = 0; a < accumulators.size(); ++a) {
      std::vector<ValueOutput> outputs =
          outputs_of(static_cast<int64_t>(k), static_cast<int64_t>(a));
      if (a == 0) outputs.insert(outputs.end(), counts.begin(), counts.end());
      fold({.words = sorted_words_,
            .value_class = input.value_class,
            .accumulator = accumulators[a],
            .start = start_word(accumulators[a], input.value_class)},
           outputs);
    }
  }

  Grouped finish(int64_t groups) {
    Grouped grouped;
    for (size_t k = 0; k < fields_.size(); ++k)
      grouped.keys.push_back(fields_[k].column.with_rows(groups, key_buffers_[k], Buffer(), 0));
    grouped.values = made_->columns();
    call_.finish(cudaGetLastError());
    return grouped;
  }

  const AggregatePlan& plan_;
  const int64_t groups_;  // keys below it are groups; 0: unknown
  const NormalizedKeys& packed_;
  const std::vector<KeyField> fields_;
  const Place place_;
  const int64_t rows_;
  const int slot_bits_;
  const int64_t partitions_;
  const int bits_;
  DeviceCall call_;
  std::vector<Buffer> buffers_{};
  std::vector<Buffer> key_buffers_{};
  std::vector<KeyOutput> keys_left_{};  // until the first fold writes them
  std::optional<GroupColumns> made_{};
  size_t first_input_ = 0;
  SortedPartitions partitions_of_rows_{};
  const uint32_t* keys_ = nullptr;
  uint32_t* sorted_ = nullptr;
  uint64_t* words_ = nullptr;
  uint64_t* sorted_words_ = nullptr;
};

}  // namespace

std::vector<uint64_t> sampled_keys(const NormalizedKeys& packed, int64_t count, int64_t step) {
  DeviceCall call("groupby", packed.key_fields()[0].column.place());
  std::vector<Buffer> tables;
  const Buffer out = call.scratch(8 * count);
  with_keys(call, packed, tables, [&]<class Keys>(const Keys& keys) {
    sample_kernel<Keys><<<blocks_of(count, kRowThreads), kRowThreads, 0,
                          static_cast<cudaStream_t>(call.stream())>>>(
        keys, count, step, call.writes_as<uint64_t>(out));
  });
  call.finish(cudaGetLastError());
  std::vector<uint64_t> found(static_cast<size_t>(count));
  call.fetch(found.data(), out.data(), 8 * count);
  return found;
}

Grouped partitioned_aggregate(const AggregatePlan& plan, const NormalizedKeys& packed,
                              int64_t groups) {
  return PartitionedFold(plan, packed, groups).run();
}

}  // namespace hr::cuda
