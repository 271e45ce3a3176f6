// SPDX-License-Identifier: Apache-2.0
// Group-by of many groups on a CUDA device. Keys are sorted stably by their upper bits, each time
// with the values of one column, until equal ones are among 2^kSlotBits neighbours: a block of
// threads folds these as it does few slots, and slots with rows become groups, in the order of
// keys.
#include "headrace/algo/keys/normalized_keys_device.h"
#include "headrace/relational/aggregate/device_folds.h"
#include "headrace/relational/aggregate/partitioned_aggregate_kernels.h"

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace hr::cuda {

namespace {

using namespace groups;

constexpr int kSlotBits = kRunBits;
constexpr uint32_t kSlots = 1u << kSlotBits;
constexpr int kRowThreads = 256;
constexpr int kRounds = kSlots / kThreads;
constexpr int kWarps = kThreads / 32;

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
  load(input, row, static_cast<int>(min(rows - row, int64_t{kTile})), words);
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int64_t at = row + 32 * k;
    if (at >= rows) continue;
    out[at] = input.valid && !bit_at(input.valid, input.offset + at)
                  ? word_of(std::numeric_limits<double>::quiet_NaN())
                  : words[k];
  }
}

/// Where the rows of each run of slots begin among sorted keys.
__global__ void begins_kernel(const uint32_t* __restrict__ keys, int64_t rows, int64_t runs,
                              int64_t* __restrict__ begins) {
  const int64_t i = int64_t{blockIdx.x} * kRowThreads + threadIdx.x;
  if (i > rows) return;
  const int64_t before = i == 0 ? -1 : int64_t{keys[i - 1] >> kSlotBits};
  const int64_t here = i == rows ? runs : int64_t{keys[i] >> kSlotBits};
  for (int64_t run = before + 1; run <= here; ++run) begins[run] = i;
}

__global__ void __launch_bounds__(kThreads)
    count_kernel(const uint32_t* __restrict__ sizes, uint64_t dropped,
                 int64_t* __restrict__ counts) {
  const uint64_t base = uint64_t{blockIdx.x} << kSlotBits;
  int count = 0;
  for (uint32_t slot = threadIdx.x; slot < kSlots; slot += kThreads)
    count += sizes[base + slot] > 0 && base + slot != dropped;
  for (int half = 16; half > 0; half /= 2) count += __shfl_xor_sync(~0u, count, half);
  __shared__ int of_warps[kWarps];
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = count;
  __syncthreads();
  if (threadIdx.x > 0) return;
  int64_t all = 0;
  for (const int each : of_warps) all += each;
  counts[blockIdx.x] = all;
}

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
  uint8_t* valid;           // a byte a group; null: all are there
  unsigned* nulls;          // how many are null
  const uint64_t* states;   // null: the number of values
  const uint32_t* missing;  // null: no row is without a value
  int64_t fewest;
  int width;
  ValueClass value_class;
  bool is_mean;
  bool is_floating;  // of the result
  bool keeps_few;    // too few values: the state as it is
};

__device__ void store_word(std::byte* to, int64_t at, int width, uint64_t word) {
  if (width == 8)
    reinterpret_cast<uint64_t*>(to)[at] = word;
  else if (width == 4)
    reinterpret_cast<uint32_t*>(to)[at] = static_cast<uint32_t>(word);
  else if (width == 2)
    reinterpret_cast<uint16_t*>(to)[at] = static_cast<uint16_t>(word);
  else
    reinterpret_cast<uint8_t*>(to)[at] = static_cast<uint8_t>(word);
}

__device__ void write_value(const ValueOutput& out, uint64_t slot, int64_t at, uint32_t size) {
  const int64_t values = int64_t{size} - (out.missing ? out.missing[slot] : 0);
  const bool there = values >= out.fewest;
  if (out.valid) {
    if (!there) atomicAdd(out.nulls, 1u);
    out.valid[at] = there;
  }
  uint64_t word = out.states ? out.states[slot] : static_cast<uint64_t>(values);
  if (out.is_mean) word = word_of(value_of<double>(word) / static_cast<double>(values));
  if (!there && !out.keeps_few) word = 0;
  if (out.is_floating && out.width == 4) {
    const auto value = static_cast<float>(value_of<double>(word));
    uint32_t small;
    memcpy(&small, &value, sizeof small);
    word = small;
  }
  store_word(out.to, at, out.width, word);
}

/// The groups of a run of slots, in order.
__global__ void __launch_bounds__(kThreads)
    groups_kernel(const uint32_t* __restrict__ sizes, uint64_t dropped,
                  const int64_t* __restrict__ places, const KeyOutput* __restrict__ keys,
                  int num_keys, const ValueOutput* __restrict__ values, int num_values) {
  __shared__ uint32_t there[kRounds][kWarps];
  const uint64_t base = uint64_t{blockIdx.x} << kSlotBits;
  const int warp = threadIdx.x / 32;
  uint32_t own[kRounds];
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const uint64_t slot = base + k * kThreads + threadIdx.x;
    own[k] = slot == dropped ? 0 : sizes[slot];
    const uint32_t bits = __ballot_sync(~0u, own[k] > 0);
    if (threadIdx.x % 32 == 0) there[k][warp] = bits;
  }
  __syncthreads();
  int64_t at = places[blockIdx.x];
  const uint32_t before = (1u << threadIdx.x % 32) - 1;
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    int64_t mine = at;
    for (int w = 0; w < kWarps; ++w) {
      const uint32_t bits = there[k][w];
      if (w < warp) mine += __popc(bits);
      if (w == warp) mine += __popc(bits & before);
      at += __popc(bits);
    }
    if (own[k] == 0) continue;
    const uint64_t slot = base + k * kThreads + threadIdx.x;
    for (int i = 0; i < num_keys; ++i)
      store_word(keys[i].to, mine, keys[i].width,
                 (slot >> keys[i].shift & keys[i].mask) + keys[i].least);
    for (int i = 0; i < num_values; ++i) write_value(values[i], slot, mine, own[k]);
  }
}

__global__ void bits_kernel(const uint8_t* __restrict__ bytes, int64_t count,
                            uint32_t* __restrict__ bits) {
  const int64_t i = int64_t{blockIdx.x} * kRowThreads + threadIdx.x;
  const uint32_t word = __ballot_sync(~0u, i < count && bytes[i] != 0);
  if (threadIdx.x % 32 == 0 && i < count) bits[i / 32] = word;
}

class PartitionedFold {
 public:
  PartitionedFold(const AggregatePlan& plan, const NormalizedKeys& packed)
      : plan_(plan),
        packed_(packed),
        fields_(packed.key_fields()),
        place_(fields_[0].column.place()),
        rows_(packed.num_rows()),
        runs_(static_cast<int64_t>((packed.domain() - 1) >> kSlotBits) + 1),
        bits_(std::max(static_cast<int>(std::bit_width(packed.domain() - 1)), kSlotBits + 1)),
        call_("groupby", place_) {}

  Grouped run() {
    keys_ = scratch<uint32_t>(rows_);
    sorted_ = scratch<uint32_t>(rows_);
    sizes_ = scratch<uint32_t>(runs_ << kSlotBits);
    begins_ = scratch<int64_t>(runs_ + 1);
    with_keys(call_, packed_, buffers_, [&]<class Keys>(const Keys& keys) {
      keys_kernel<Keys><<<row_blocks(rows_), kRowThreads, 0, stream()>>>(keys, rows_, keys_);
    });
    for (size_t k = 0; k < plan_.inputs.size(); ++k) fold(k);
    if (!has_sizes_) fold_rows({}, {});
    return write();
  }

 private:
  struct States {
    std::vector<uint64_t*> folds{};
    uint32_t* missing = nullptr;
  };

  template <class T>
  T* scratch(int64_t count) {
    buffers_.push_back(
        call_.scratch(std::max<int64_t>(count, 1) * static_cast<int64_t>(sizeof(T))));
    return call_.writes_as<T>(buffers_.back());
  }

  template <class T>
  const T* table(const std::vector<T>& values) {
    if (values.empty()) return nullptr;
    buffers_.push_back(call_.table(values.data(), static_cast<int64_t>(values.size() * sizeof(T))));
    return buffers_.back().template as<T>();
  }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream()); }

  static unsigned row_blocks(int64_t rows) { return blocks_of(rows, kRowThreads); }

  unsigned run_blocks() const { return static_cast<unsigned>(runs_); }

  // Calls one of CUB's functions for the room that it needs, and then to work there.
  template <class F>
  void with_room(F&& work) {
    size_t bytes = 0;
    check_cuda("groupby", work(nullptr, bytes));
    const Buffer room = call_.scratch(static_cast<int64_t>(bytes));
    check_cuda("groupby", work(call_.writes(room), bytes));
  }

  // The words of an input: its own, or made ones.
  const uint64_t* words_of(const AccumulatorInput& input, uint64_t* room) {
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
    words_kernel<<<blocks_of(rows_, kTile), kThreads, 0, stream()>>>(made, rows_, room);
    return room;
  }

  void fold(size_t k) {
    const AccumulatorInput& input = plan_.inputs[k];
    States& states = states_.emplace_back();
    if (input.value_class == ValueClass::kNothing) return;  // no value is missing
    if (!words_) {
      words_ = scratch<uint64_t>(rows_);
      sorted_words_ = scratch<uint64_t>(rows_);
    }
    const uint64_t* const words = words_of(input, words_);
    with_room([&](void* room, size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(room, bytes, keys_, sorted_, words, sorted_words_,
                                             static_cast<unsigned>(rows_), kSlotBits, bits_,
                                             stream());
    });
    find_begins();
    Input made{};
    made.values = sorted_words_;
    made.type = input.value_class == ValueClass::kFloating ? TypeId::kFloat64 : TypeId::kInt64;
    made.value_class = input.value_class;
    made.has_values = true;
    made.width = 8;
    if (input.can_miss()) made.missing = states.missing = scratch<uint32_t>(runs_ << kSlotBits);
    std::vector<Fold> folds;
    for (const Accumulator accumulator : input.accumulators) {
      states.folds.push_back(scratch<uint64_t>(runs_ << kSlotBits));
      folds.push_back({accumulator, states.folds.back(), nullptr, nullptr,
                       start_word(accumulator, input.value_class)});
    }
    made.num_folds = static_cast<int>(folds.size());
    fold_rows({made}, folds);
  }

  void find_begins() {
    if (std::exchange(has_begins_, true)) return;
    begins_kernel<<<row_blocks(rows_ + 1), kRowThreads, 0, stream()>>>(sorted_, rows_, runs_,
                                                                       begins_);
  }

  void fold_rows(const std::vector<Input>& inputs, const std::vector<Fold>& folds) {
    if (!has_begins_) {
      with_room([&](void* room, size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(
            room, bytes, keys_, sorted_, static_cast<unsigned>(rows_), kSlotBits, bits_, stream());
      });
      find_begins();
    }
    Runs all{};
    all.rows = rows_;
    all.begins = begins_;
    all.slots = kSlots;
    all.inputs = table(inputs);
    all.num_inputs = static_cast<int>(inputs.size());
    all.folds = table(folds);
    all.num_folds = static_cast<int>(folds.size());
    if (!std::exchange(has_sizes_, true)) all.sizes = sizes_;
    fold_sorted_runs(sorted_, all, runs_, stream());
  }

  Grouped write() {
    const uint64_t dropped = packed_.has_missing() ? packed_.missing() : ~uint64_t{0};
    auto* const counts = scratch<int64_t>(runs_ + 1);
    auto* const places = scratch<int64_t>(runs_ + 1);
    call_.fill(reinterpret_cast<std::byte*>(counts + runs_), 0, 8);
    count_kernel<<<run_blocks(), kThreads, 0, stream()>>>(sizes_, dropped, counts);
    with_room([&](void* room, size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(room, bytes, counts, places, runs_ + 1, stream());
    });
    int64_t groups = 0;
    call_.fetch(&groups, places + runs_, 8);
    Grouped grouped;
    if (groups == 0) {
      for (const KeyField& field : fields_) grouped.keys.push_back(field.column.slice(0, 0));
      for (const PlannedAggregate& each : plan_.aggregates)
        grouped.values.push_back(Column(each.dtype, 0, Buffer()));
      call_.finish(cudaGetLastError());
      return grouped;
    }
    std::vector<Buffer> key_buffers, value_buffers;
    std::vector<KeyOutput> keys;
    for (const KeyField& field : fields_) {
      const auto width = field.column.dtype().storage().size_bytes();
      key_buffers.push_back(allocate_result(groups * width, place_));
      const int width_bits = std::bit_width(field.last);
      keys.push_back({call_.writes(key_buffers.back()), field.least,
                      width_bits == 0 ? 0 : ~uint64_t{0} >> (64 - width_bits), field.shift & 63,
                      static_cast<int>(width)});
    }
    const size_t count = plan_.aggregates.size();
    auto* const nulls = scratch<unsigned>(static_cast<int64_t>(count));
    call_.fill(reinterpret_cast<std::byte*>(nulls), 0, static_cast<int64_t>(4 * count));
    std::vector<ValueOutput> values;
    for (size_t k = 0; k < count; ++k) {
      const PlannedAggregate& aggregate = plan_.aggregates[k];
      value_buffers.push_back(allocate_result(groups * aggregate.dtype.size_bytes(), place_));
      values.push_back(output_of(aggregate, call_.writes(value_buffers.back())));
      values.back().nulls = nulls + k;
      if (values.back().fewest > 0) values.back().valid = scratch<uint8_t>(groups);
    }
    groups_kernel<<<run_blocks(), kThreads, 0, stream()>>>(sizes_, dropped, places, table(keys),
                                                           static_cast<int>(keys.size()),
                                                           table(values), static_cast<int>(count));
    std::vector<unsigned> null_counts(count);
    if (count > 0) call_.fetch(null_counts.data(), nulls, static_cast<int64_t>(4 * count));
    for (size_t k = 0; k < fields_.size(); ++k)
      grouped.keys.push_back(fields_[k].column.with_rows(groups, key_buffers[k], Buffer(), 0));
    for (size_t k = 0; k < count; ++k) {
      Buffer validity;
      if (null_counts[k] > 0) {
        validity = allocate_result((groups + 31) / 32 * 4, place_);
        bits_kernel<<<row_blocks(groups), kRowThreads, 0, stream()>>>(
            values[k].valid, groups, call_.writes_as<uint32_t>(validity));
      }
      grouped.values.push_back(
          Column(plan_.aggregates[k].dtype, groups, value_buffers[k], validity, null_counts[k]));
    }
    call_.finish(cudaGetLastError());
    return grouped;
  }

  ValueOutput output_of(const PlannedAggregate& aggregate, std::byte* to) const {
    const AggregateRequest& request = aggregate.request;
    const AggregateRow& row = aggregate_row(request.aggregate);
    ValueOutput out{};
    out.to = to;
    out.width = static_cast<int>(aggregate.dtype.storage().size_bytes());
    out.is_floating = aggregate.dtype.is_floating();
    out.is_mean = request.aggregate == Aggregate::kMean;
    out.fewest = row.fewest_values(request.min_count, request.ddof, request.rank);
    out.keeps_few =
        request.aggregate == Aggregate::kSum || request.aggregate == Aggregate::kProduct;
    if (aggregate.input < 0) return out;
    const auto input = static_cast<size_t>(aggregate.input);
    out.missing = states_[input].missing;
    if (!aggregate.accumulators.empty())
      out.states = states_[input].folds[aggregate.accumulators[0]];
    return out;
  }

  const AggregatePlan& plan_;
  const NormalizedKeys& packed_;
  const std::vector<KeyField> fields_;
  const Place place_;
  const int64_t rows_;
  const int64_t runs_;
  const int bits_;
  DeviceCall call_;
  std::vector<Buffer> buffers_{};
  std::vector<States> states_{};  // by input
  uint32_t* keys_ = nullptr;
  uint32_t* sorted_ = nullptr;
  uint64_t* words_ = nullptr;
  uint64_t* sorted_words_ = nullptr;
  uint32_t* sizes_ = nullptr;
  int64_t* begins_ = nullptr;
  bool has_begins_ = false;
  bool has_sizes_ = false;
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

Grouped partitioned_aggregate(const AggregatePlan& plan, const NormalizedKeys& packed) {
  return PartitionedFold(plan, packed).run();
}

}  // namespace hr::cuda
