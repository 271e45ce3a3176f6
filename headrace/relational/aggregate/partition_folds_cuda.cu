// SPDX-License-Identifier: Apache-2.0
// Group-by of many groups on a CUDA device, from rows whose keys are sorted by their upper bits. A
// block of threads takes a partition, tile by tile: it counts the rows of each slot, puts their
// places side by side, and each thread folds the rows of its own slots, one after the other. What
// it has of them stays in registers until the groups are written.
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/data/device_launch.h"
#include "headrace/relational/aggregate/group_outputs_device.h"
#include "headrace/relational/aggregate/partition_folds_kernels.h"

#include <array>
#include <cub/device/device_scan.cuh>
#include <type_traits>

namespace hr::cuda {

namespace {

using groups::group_value;
using groups::GroupValue;
using groups::plus;
using groups::store_word;
using groups::times;
using groups::value_of;
using groups::word_of;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 9;  // a partition of as many rows as slots mostly is one tile
constexpr int kTile = kThreads * kItems;
constexpr uint32_t kMostOfThread = 48;  // rows of a slot in a tile; of more, a warp folds them
constexpr int kMostOfWarps = kTile / (kMostOfThread + 1) + 1;
constexpr int kMostOutputs = 8;  // of a launch

/// Where the rows of each partition begin.
__global__ void begins_kernel(const uint32_t* __restrict__ keys, int64_t rows, int shift,
                              int64_t partitions, int64_t* __restrict__ begins) {
  const int64_t partition = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (partition > partitions) return;
  int64_t low = 0, high = rows;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (int64_t{keys[middle] >> shift} < partition)
      low = middle + 1;
    else
      high = middle;
  }
  begins[partition] = low;
}

/// The places of partitions whose slots all are groups.
__global__ void places_kernel(int64_t partitions, int slot_bits, int64_t* __restrict__ places) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < partitions) places[i] = i << slot_bits;
}

/// How many slots of each partition have rows.
template <int kSlotBits>
__global__ void __launch_bounds__(kThreads)
    count_kernel(const uint32_t* __restrict__ keys, const int64_t* __restrict__ begins,
                 uint64_t dropped, int64_t* __restrict__ counts) {
  constexpr uint32_t kSlots = 1u << kSlotBits;
  __shared__ uint32_t seen[kSlots / 32];
  __shared__ int total;
  const int64_t begin = begins[blockIdx.x], end = begins[blockIdx.x + 1];
  for (unsigned k = threadIdx.x; k < kSlots / 32; k += kThreads) seen[k] = 0;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const uint32_t slot = keys[i] & (kSlots - 1);
    const uint32_t bit = 1u << slot % 32;
    if (!(*static_cast<volatile uint32_t*>(&seen[slot / 32]) & bit))
      atomicOr(&seen[slot / 32], bit);
  }
  __syncthreads();
  if (threadIdx.x < kSlots / 32) {
    const uint32_t own = seen[threadIdx.x];
    if (own != 0) atomicAdd(&total, __popc(own));
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  const bool drops =
      dropped >> kSlotBits == blockIdx.x && (seen[dropped % kSlots / 32] >> dropped % 32 & 1) != 0;
  counts[blockIdx.x] = total - drops;
}

struct Sum {
  template <class T>
  __device__ static T join(T state, T x) {
    return plus(state, x);
  }
};

struct Product {
  template <class T>
  __device__ static T join(T state, T x) {
    return times(state, x);
  }
};

struct Least {
  template <class T>
  __device__ static T join(T state, T x) {
    return x < state ? x : state;
  }
};

struct Greatest {
  template <class T>
  __device__ static T join(T state, T x) {
    return state < x ? x : state;
  }
};

/// Only the rows count.
struct Nothing {
  template <class T>
  __device__ static T join(T state, T) {
    return state;
  }
};

template <class T, int kSlots>
struct TileRoom {
  uint64_t words[kTile];
  uint32_t begins[kSlots];  // rows of each slot, then where they begin in `order`
  uint32_t missing[std::is_floating_point_v<T> ? kSlots : 1];
  uint16_t order[kTile];
  uint32_t warps[kWarps];
  uint32_t num_long;
  uint16_t long_slots[kMostOfWarps];
  uint64_t long_states[kMostOfWarps];
};

/// The sum of what the threads before this one have. All threads call it.
__device__ __forceinline__ uint32_t sum_before(uint32_t own, uint32_t* warps, uint32_t& total) {
  const unsigned lane = threadIdx.x % 32;
  uint32_t sum = own;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const uint32_t left = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  total = 0;
  uint32_t before = 0;
#pragma unroll
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    if (warp == threadIdx.x / 32) before = total;
    total += warps[warp];
  }
  return before + sum - own;
}

/// Puts a few places in order, which they nearly are.
__device__ __forceinline__ void sort_places(uint16_t* places, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    const uint16_t place = places[i];
    uint32_t to = i;
    for (; to > 0 && places[to - 1] > place; --to) places[to] = places[to - 1];
    if (to < i) places[to] = place;
  }
}

template <class Step, class T>
__device__ __forceinline__ void fold_word(uint64_t word, T& state, uint32_t& missing) {
  const T x = value_of<T>(word);
  if constexpr (std::is_floating_point_v<T>)
    if (x != x) {
      ++missing;
      return;
    }
  state = Step::join(state, x);
}

/// Slots with many rows in a tile, a warp each.
template <class Step, class T, int kSlots>
__device__ void fold_long(TileRoom<T, kSlots>& room, const uint32_t* keys, int count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (uint32_t k = threadIdx.x / 32; k < room.num_long; k += kWarps) {
    const uint32_t slot = room.long_slots[k];
    T state = value_of<T>(room.long_states[k]);
    uint32_t missing = 0;
    for (int first = 0; first < count; first += 32) {
      const bool is_own = first + lane < count && (keys[first + lane] & (kSlots - 1)) == slot;
      unsigned own = __ballot_sync(~0u, is_own);
      if (own == ~0u) {
#pragma unroll
        for (int j = 0; j < 32; ++j) fold_word<Step>(room.words[first + j], state, missing);
        continue;
      }
      for (; own != 0; own &= own - 1)
        fold_word<Step>(room.words[first + __ffs(static_cast<int>(own)) - 1], state, missing);
    }
    if (lane > 0) continue;
    room.long_states[k] = word_of(state);
    if constexpr (std::is_floating_point_v<T>) room.missing[slot] += missing;
  }
}

struct Outputs {
  std::array<KeyOutput, kMostDeviceKeys> keys;
  std::array<ValueOutput, kMostOutputs> values;
  int num_keys;
  int num_values;
};

/// Folds the rows of a tile, of which those of the thread's slots begin at `first`.
template <class Step, class T, int kSlots, int kOwn>
__device__ __forceinline__ void fold_tile(TileRoom<T, kSlots>& room, const uint32_t* keys,
                                          int count, uint32_t first, const uint32_t (&rows)[kOwn],
                                          T (&states)[kOwn]) {
  const auto thread = static_cast<int>(threadIdx.x);
  uint32_t place = first;
  bool has_long = false;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    uint16_t* const own = room.order + place;
    place += rows[k];
    if (rows[k] > kMostOfThread) {
      has_long = true;
      const uint32_t at = atomicAdd(&room.num_long, 1u);
      room.long_slots[at] = static_cast<uint16_t>(thread * kOwn + k);
      room.long_states[at] = word_of(states[k]);
      own[0] = static_cast<uint16_t>(at);
      continue;
    }
    sort_places(own, rows[k]);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < rows[k]; ++i) fold_word<Step>(room.words[own[i]], states[k], missing);
    if constexpr (std::is_floating_point_v<T>)
      if (missing > 0) room.missing[thread * kOwn + k] += missing;
  }
  if (__syncthreads_or(has_long) == 0) return;
  fold_long<Step>(room, keys, count);
  __syncthreads();
  place = first;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    if (rows[k] > kMostOfThread) states[k] = value_of<T>(room.long_states[room.order[place]]);
    place += rows[k];
  }
  if (thread == 0) room.num_long = 0;
  __syncthreads();
}

/// Writes the groups of a partition from `to` on.
template <int kSlotBits, class T, int kSlots, int kOwn>
__device__ __forceinline__ void write_groups(TileRoom<T, kSlots>& room, const Outputs& outputs,
                                             uint64_t dropped, int64_t to, const T (&states)[kOwn],
                                             uint32_t (&sizes)[kOwn]) {
  const auto thread = static_cast<int>(threadIdx.x);
  const uint64_t base = uint64_t{blockIdx.x} << kSlotBits;
  uint32_t there = 0, total = 0;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    if (base + thread * kOwn + k == dropped) sizes[k] = 0;
    there += sizes[k] > 0;
  }
  const uint32_t before = sum_before(there, room.warps, total);
  if (outputs.num_keys > 0) {
    uint32_t rank = before;
#pragma unroll
    for (int k = 0; k < kOwn; ++k)
      if (sizes[k] > 0) room.order[rank++] = static_cast<uint16_t>(thread * kOwn + k);
    __syncthreads();
    for (uint32_t i = thread; i < total; i += kThreads) {
      const uint64_t key = base | room.order[i];
      for (int n = 0; n < outputs.num_keys; ++n) {
        const KeyOutput& out = outputs.keys[n];
        store_word(out.to, to + i, out.width, (key >> out.shift & out.mask) + out.least);
      }
    }
  }
  for (int n = 0; n < outputs.num_values; ++n) {
    const ValueOutput& out = outputs.values[n];
    __syncthreads();
    uint32_t rank = before;
    unsigned nulls = 0;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      if (sizes[k] == 0) continue;
      uint32_t missing = 0;
      if constexpr (std::is_floating_point_v<T>) missing = room.missing[thread * kOwn + k];
      const GroupValue made = group_value(out, word_of(states[k]), sizes[k], missing);
      room.words[rank] = made.word;
      room.order[rank] = made.values >= out.fewest;
      nulls += made.values < out.fewest;
      ++rank;
    }
    if (out.valid && nulls > 0) atomicAdd(out.nulls, nulls);
    __syncthreads();
    for (uint32_t i = thread; i < total; i += kThreads) {
      store_word(out.to, to + i, out.width, room.words[i]);
      if (out.valid) out.valid[to + i] = static_cast<uint8_t>(room.order[i]);
    }
  }
}

template <class T, class Step, int kOwn>
__global__ void __launch_bounds__(kThreads, 4)
    fold_kernel(const uint32_t* __restrict__ keys, const uint64_t* __restrict__ words,
                const int64_t* __restrict__ begins, const int64_t* __restrict__ places,
                uint64_t start, uint64_t dropped, const __grid_constant__ Outputs outputs) {
  constexpr int kSlots = kOwn * kThreads;
  constexpr bool kFolds = !std::is_same_v<Step, Nothing>;
  constexpr int kSlotBits = kOwn == 1 ? kFewSlotBits : kManySlotBits;
  static_assert(kSlots == 1 << kSlotBits);
  __shared__ TileRoom<T, kSlots> room;
  const int64_t begin = begins[blockIdx.x], end = begins[blockIdx.x + 1];
  if (begin == end) return;
  const auto thread = static_cast<int>(threadIdx.x);
  T states[kOwn];
  uint32_t sizes[kOwn];
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    states[k] = value_of<T>(start);
    sizes[k] = 0;
    if constexpr (std::is_floating_point_v<T>) room.missing[thread * kOwn + k] = 0;
  }
  if (thread == 0) room.num_long = 0;

  for (int64_t tile = begin; tile < end; tile += kTile) {
    const auto count = static_cast<int>(min(int64_t{kTile}, end - tile));
#pragma unroll
    for (int k = 0; k < kOwn; ++k) room.begins[thread + k * kThreads] = 0;
    uint32_t slots[kItems];
    uint64_t loaded[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = i * kThreads + thread;
      slots[i] = at < count ? keys[tile + at] & (kSlots - 1) : 0;
      if constexpr (kFolds) loaded[i] = at < count ? words[tile + at] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = i * kThreads + thread;
      if (at >= count) continue;
      slots[i] |= atomicAdd(&room.begins[slots[i]], 1u) << kSlotBits;
      if constexpr (kFolds) room.words[at] = loaded[i];
    }
    __syncthreads();
    uint32_t rows[kOwn];
    uint32_t sum = 0, all = 0;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      rows[k] = room.begins[thread * kOwn + k];
      sizes[k] += rows[k];
      sum += rows[k];
    }
    if constexpr (!kFolds) {
      __syncthreads();
      continue;
    }
    const uint32_t first = sum_before(sum, room.warps, all);
    uint32_t place = first;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      room.begins[thread * kOwn + k] = place;
      place += rows[k];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = i * kThreads + thread;
      if (at < count)
        room.order[room.begins[slots[i] & (kSlots - 1)] + (slots[i] >> kSlotBits)] =
            static_cast<uint16_t>(at);
    }
    __syncthreads();
    fold_tile<Step>(room, keys + tile, count, first, rows, states);
  }

  write_groups<kSlotBits>(room, outputs, dropped, places[blockIdx.x], states, sizes);
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

void find_begins(const DeviceCall& call, const SortedPartitions& sorted) {
  begins_kernel<<<blocks_of(sorted.partitions + 1, kThreads), kThreads, 0, stream_of(call)>>>(
      sorted.keys, sorted.rows, sorted.slot_bits, sorted.partitions, sorted.begins);
}

template <class T, class Step>
void launch(const DeviceCall& call, const SortedPartitions& sorted, const PartitionFold& fold,
            const Outputs& outputs) {
  const auto blocks = static_cast<unsigned>(sorted.partitions);
  const auto start = [&](auto kernel) {
    kernel<<<blocks, kThreads, 0, stream_of(call)>>>(
        sorted.keys, fold.words, sorted.begins, sorted.places, fold.start, sorted.dropped, outputs);
  };
  if (sorted.slot_bits == kFewSlotBits)
    start(fold_kernel<T, Step, (1 << kFewSlotBits) / kThreads>);
  else
    start(fold_kernel<T, Step, (1 << kManySlotBits) / kThreads>);
}

template <class T>
void launch_fold(const DeviceCall& call, const SortedPartitions& sorted, const PartitionFold& fold,
                 const Outputs& outputs) {
  switch (fold.accumulator) {
    case Accumulator::kProduct:
      return launch<T, Product>(call, sorted, fold, outputs);
    case Accumulator::kMin:
      return launch<T, Least>(call, sorted, fold, outputs);
    case Accumulator::kMax:
      return launch<T, Greatest>(call, sorted, fold, outputs);
    default:
      return launch<T, Sum>(call, sorted, fold, outputs);
  }
}

}  // namespace

void place_groups(DeviceCall& call, const SortedPartitions& sorted) {
  find_begins(call, sorted);
  places_kernel<<<blocks_of(sorted.partitions, kThreads), kThreads, 0, stream_of(call)>>>(
      sorted.partitions, sorted.slot_bits, sorted.places);
}

void count_groups(DeviceCall& call, const SortedPartitions& sorted) {
  const cudaStream_t stream = stream_of(call);
  find_begins(call, sorted);
  const Buffer counted = call.scratch(8 * (sorted.partitions + 1));
  auto* const counts = call.writes_as<int64_t>(counted);
  call.fill(reinterpret_cast<std::byte*>(counts + sorted.partitions), 0, 8);
  const auto blocks = static_cast<unsigned>(sorted.partitions);
  const auto start = [&](auto kernel) {
    kernel<<<blocks, kThreads, 0, stream>>>(sorted.keys, sorted.begins, sorted.dropped, counts);
  };
  if (sorted.slot_bits == kFewSlotBits)
    start(count_kernel<kFewSlotBits>);
  else
    start(count_kernel<kManySlotBits>);
  size_t bytes = 0;
  check_cuda("groupby", cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, sorted.places,
                                                      sorted.partitions + 1, stream));
  const Buffer room = call.scratch(static_cast<int64_t>(bytes));
  check_cuda("groupby",
             cub::DeviceScan::ExclusiveSum(call.writes(room), bytes, counts, sorted.places,
                                           sorted.partitions + 1, stream));
}

void fold_partitions(const DeviceCall& call, const SortedPartitions& sorted,
                     const PartitionFold& fold) {
  size_t done = 0;
  do {
    Outputs outputs{};
    if (done == 0)
      for (const KeyOutput& key : fold.keys) outputs.keys[outputs.num_keys++] = key;
    for (; done < fold.outputs.size() && outputs.num_values < kMostOutputs; ++done)
      outputs.values[outputs.num_values++] = fold.outputs[done];
    if (!fold.words)
      launch<int64_t, Nothing>(call, sorted, fold, outputs);
    else if (fold.value_class == ValueClass::kFloating)
      launch_fold<double>(call, sorted, fold, outputs);
    else if (fold.value_class == ValueClass::kUnsigned)
      launch_fold<uint64_t>(call, sorted, fold, outputs);
    else
      launch_fold<int64_t>(call, sorted, fold, outputs);
  } while (done < fold.outputs.size());
}

}  // namespace hr::cuda
