// SPDX-License-Identifier: Apache-2.0
// What a block of threads folds of few slots. It takes a run of rows, or of them those of a part of
// the slots, tile by tile: it ranks the rows of a tile by bucket (slot modulo the threads), stably,
// puts their values in that order into shared memory, and each thread folds the rows of its own
// bucket, one after the other. So a slot's rows are added in the CPU's order, without atomics.
#include "headrace/relational/aggregate/dense_folds_device.h"

#include <cstdint>
#include <cub/block/block_radix_rank.cuh>
#include <limits>

namespace hr::cuda {

namespace {

using namespace groups;

struct LowBits {
  __device__ uint32_t Digit(uint32_t slot) const { return slot & (kThreads - 1); }
};

using Ranker =
    cub::BlockRadixRankMatchEarlyCounts<kThreads, kBits, false, cub::BLOCK_SCAN_WARP_SCANS,
                                        cub::WARP_MATCH_ANY, 1>;

/// How a block folds: a run with a slot a thread, whose states of the first fold are in registers;
/// a run with those states in shared memory; the same for a part of the slots, also where nothing
/// but float64 is summed, which takes half of the registers.
enum class FoldShape { kRegisters, kShared, kPart, kSumsOfPart };

constexpr bool is_part(FoldShape shape) {
  return shape == FoldShape::kPart || shape == FoldShape::kSumsOfPart;
}

/// Rows of a thread in a tile: a part waits for more memory, so more of its blocks share a
/// processor.
constexpr int items_of(FoldShape shape) {
  return is_part(shape) ? kItems / 2 : kItems;
}

static_assert(kMostShared <= int64_t{1} << (32 - kPlaceBits));

/// What a tile needs in shared memory.
template <FoldShape kShape>
struct TileRoom {
  static constexpr bool kDirect = kShape == FoldShape::kRegisters;
  static constexpr bool kParted = is_part(kShape);
  static constexpr int kRows = kThreads * items_of(kShape);
  union {
    typename Ranker::TempStorage rank;
    uint64_t values[kRows + kAhead];
  };
  uint16_t groups[kDirect ? 1 : kRows + kAhead];
  uint16_t places[kRows];
  uint8_t present[kRows + kAhead];
  int begins[kThreads + 1];
  uint32_t waiting[kParted ? 2 * kRows : 1];
  int warps[kThreads / 32];
};

/// A thread's rows of those that a part picked.
struct PickedRows {
  int64_t begin;  // of the run
  const uint32_t* waiting;
  int left;

  __device__ bool is_there(int k) const { return 32 * k < left; }
  __device__ int64_t operator[](int k) const {
    return begin + (waiting[32 * k] & ((1u << kPlaceBits) - 1));
  }
};

/// Fresh states of the thread's own slots; `skips_first`: those of the first fold are elsewhere,
/// but for its rows.
__device__ __forceinline__ void start_states(const Runs& all, uint64_t base, uint32_t slot,
                                             bool skips_first) {
  for (int k = 0; k < all.num_folds; ++k) {
    const Fold& fold = all.folds[k];
    if (fold.rows) fold.rows[base + slot] = -1;
    if (k == 0 && skips_first) continue;
    if (is_pair(fold.accumulator)) {
      fold.states[2 * (base + slot)] = fold.start;
      fold.states[2 * (base + slot) + 1] = fold.start;
    } else {
      fold.states[base + slot] = fold.start;
    }
  }
  for (int k = 0; k < all.num_inputs; ++k)
    if (all.inputs[k].missing) all.inputs[k].missing[base + slot] = 0;
}

/// Asks for the values of a tile and the keys of the next one.
template <class Keys>
__device__ __forceinline__ void prefetch(const Keys& keys, const Runs& all, int64_t tile, int count,
                                         int64_t end) {
  for (int k = 0; k < all.num_inputs; ++k) {
    const Input& input = all.inputs[k];
    if (input.width > 0)
      prefetch_bytes(
          static_cast<const std::byte*>(input.values) + (input.offset + tile) * input.width,
          count * input.width);
  }
  if (const auto more = static_cast<int>(min(int64_t{kTile}, end - tile - kTile)); more > 0)
    keys.prefetch(tile + kTile, more);
}

/// Puts the values of one input in the order of the slots; whether the thread's lack some.
template <bool kSums, class Rows, class Room, int kCount>
__device__ __forceinline__ bool place_values(const Input& input, const Rows& rows,
                                             const int (&ranks)[kCount], Room& room) {
  const bool is_floating = kSums || input.value_class == ValueClass::kFloating;
  bool misses = false;
  if (input.has_values) {
    uint64_t words[kCount];
    if constexpr (kSums)
      load_words<double>(input, rows, words);
    else
      load(input, rows, words);
    if (is_floating && input.valid)
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        if (rows.is_there(i) && !bit_at(input.valid, input.offset + rows[i]))
          words[i] = word_of(std::numeric_limits<double>::quiet_NaN());
    if (is_floating)
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const auto value = value_of<double>(words[i]);
        misses |= value != value;
      }
#pragma unroll
    for (int i = 0; i < kCount; ++i) room.values[ranks[i]] = words[i];
  }
  if (!is_floating && input.valid)
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool there = !rows.is_there(i) || bit_at(input.valid, input.offset + rows[i]);
      room.present[ranks[i]] = there;
      misses |= !there;
    }
  return misses;
}

/// All folds of one input. `own_states`: of the first fold, if they are in shared memory.
template <bool kDirect, bool kSums>
__device__ __forceinline__ void fold_input(const Runs& all, const Input& input, uint64_t base,
                                           uint32_t part, uint64_t* own_states, const Stretch& s) {
  if (s.is_guarded && input.missing) {
    uint32_t* const missing = input.missing + base;
    for (int i = s.begin; i < s.end; ++i)
      if (s.is_missing(i)) ++missing[kDirect ? threadIdx.x : s.slot(i)];
  }
  for (int f = input.first_fold; f < input.first_fold + input.num_folds; ++f) {
    Fold fold = all.folds[f];
    if constexpr (kSums) {
      auto* const sums =
          reinterpret_cast<double*>(f == 0 && own_states ? own_states : fold.states + base);
      fold_states<false>(
          sums, s, [](double& state, uint64_t word, int) { state += value_of<double>(word); });
      continue;
    }
    if (fold.means) fold.means += uint64_t{part} * all.slots.of_part;
    uint64_t* const words = f == 0 && own_states
                                ? own_states
                                : fold.states + base * (is_pair(fold.accumulator) ? 2 : 1);
    int64_t* const rows = fold.rows ? fold.rows + base : nullptr;
    if (s.is_floating)
      fold_values<kDirect, double>(fold, words, rows, s);
    else if (input.value_class == ValueClass::kUnsigned)
      fold_values<kDirect, uint64_t>(fold, words, rows, s);
    else
      fold_values<kDirect, int64_t>(fold, words, rows, s);
  }
}

/// Counts the rows of slots.
__device__ __forceinline__ void count_rows(const Stretch& s, uint32_t* sizes) {
  if (s.begin >= s.end) return;
  uint32_t current = s.slot(s.begin);
  uint32_t rows = 0;
  for (int i = s.begin; i < s.end; ++i) {
    if (const uint32_t slot = s.slot(i); slot != current) {
      sizes[current] += rows;
      rows = 0;
      current = slot;
    }
    ++rows;
  }
  sizes[current] += rows;
}

/// The states of a block and where it keeps them.
template <FoldShape kShape>
struct BlockStates {
  uint64_t base;      // of the block's states in global memory
  uint32_t part;      // of the slots
  uint64_t* first;    // states of the first fold in shared memory; null: they are not there
  uint32_t* sizes;    // null: they are known
  uint32_t size = 0;  // of the thread's one slot
};

/// Folds the rows of a tile. Those from `count` on have the last bucket.
template <FoldShape kShape, class Rows, int kCount>
__device__ __forceinline__ void fold_tile(TileRoom<kShape>& room, const Runs& all, const Rows& rows,
                                          uint32_t (&slots)[kCount], int count, Stretch s,
                                          BlockStates<kShape>& states) {
  constexpr bool kDirect = kShape == FoldShape::kRegisters;
  constexpr bool kSums = kShape == FoldShape::kSumsOfPart;
  const int place = threadIdx.x / 32 * 32 * kCount + threadIdx.x % 32;  // the thread's first row
  int ranks[kCount];
  int prefix[1];
  Ranker(room.rank).RankKeys(slots, ranks, LowBits{}, prefix);
  room.begins[threadIdx.x] = prefix[0];
  if (threadIdx.x == 0) room.begins[kThreads] = count;
  if constexpr (!kDirect)
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      room.groups[ranks[k]] = static_cast<uint16_t>(slots[k] >> kBits);
  if (!kSums && all.needs_rows)
#pragma unroll
    for (int k = 0; k < kCount; ++k) room.places[ranks[k]] = static_cast<uint16_t>(place + 32 * k);
  __syncthreads();
  s.begin = min(room.begins[threadIdx.x], count);
  s.end = room.begins[threadIdx.x + 1];
  for (int k = 0; k < all.num_inputs; ++k) {
    const Input& input = all.inputs[k];
    s.is_floating = kSums || input.value_class == ValueClass::kFloating;
    const bool misses = place_values<kSums>(input, rows, ranks, room);
    s.is_guarded = __syncthreads_or(misses) != 0;
    fold_input<kDirect, kSums>(all, input, states.base, states.part, states.first, s);
    __syncthreads();
  }
  if (kDirect) states.size += static_cast<uint32_t>(s.end - s.begin);
  if (!kDirect && states.sizes) count_rows(s, states.sizes);
}

/// All rows of the run.
template <FoldShape kShape, class Keys>
__device__ __forceinline__ void fold_rows(TileRoom<kShape>& room, const Keys& keys, const Runs& all,
                                          int64_t begin, int64_t end, const Stretch& s,
                                          BlockStates<kShape>& states) {
  const int place = threadIdx.x / 32 * 32 * kItems + threadIdx.x % 32;
  for (int64_t tile = begin; tile < end; tile += kTile) {
    const auto count = static_cast<int>(min(int64_t{kTile}, end - tile));
    prefetch(keys, all, tile, count, end);
    const TileRows rows{tile + place, count - place};
    uint32_t slots[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k)
      slots[k] = rows.is_there(k) ? static_cast<uint32_t>(keys(rows[k])) : kThreads - 1;
    Stretch own = s;
    own.first_row = tile;
    fold_tile(room, all, rows, slots, count, own, states);
  }
}

/// The rows that wait behind a tile, which was folded, are the first now.
template <FoldShape kShape>
__device__ __forceinline__ void bring_forward(TileRoom<kShape>& room, int place, int waiting) {
  constexpr int kCount = items_of(kShape);
  uint32_t rest[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k)
    rest[k] = place + 32 * k < waiting ? room.waiting[kThreads * kCount + place + 32 * k] : 0;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kCount; ++k)
    if (place + 32 * k < waiting) room.waiting[place + 32 * k] = rest[k];
  __syncthreads();
}

/// The rows of the run whose slots are of the part: they wait until a tile is full.
template <FoldShape kShape, class Keys>
__device__ __forceinline__ void fold_picked(TileRoom<kShape>& room, const Keys& keys,
                                            const Runs& all, int64_t begin, int64_t end, Stretch s,
                                            BlockStates<kShape>& states) {
  constexpr int kCount = items_of(kShape);
  constexpr int kRows = kThreads * kCount;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int place = warp * 32 * kCount + lane;
  const uint32_t parts = (1u << all.slots.part_bits) - 1;
  const auto rows_of = [&](int64_t tile) {
    return TileRows{tile + place, static_cast<int>(min(int64_t{kRows}, end - tile)) - place};
  };
  uint32_t next[kCount];  // on their way while the tile before is folded
  const auto load_slots = [&](int64_t tile) {
    const TileRows rows = rows_of(tile);
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      next[k] = rows.is_there(k) ? static_cast<uint32_t>(keys(rows[k])) : 0;
  };
  const auto load_full = [&](int64_t tile) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) next[k] = static_cast<uint32_t>(keys(tile + place + 32 * k));
  };
  const unsigned own_bit = 1u << lane;
  s.first_row = begin;
  s.picked = room.waiting;
  int waiting = 0;
  load_slots(begin);
  for (int64_t tile = begin; tile < end; tile += kRows) {
    const TileRows rows = rows_of(tile);
    uint32_t slots[kCount];
    unsigned masks[kCount];
    int own = 0;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      slots[k] = next[k];
      masks[k] = __ballot_sync(~0u, rows.is_there(k) && (slots[k] & parts) == states.part);
      own += __popc(masks[k]);
    }
    if (tile + 2 * kRows <= end)
      load_full(tile + kRows);
    else if (tile + kRows < end)
      load_slots(tile + kRows);
    if (lane == 0) room.warps[warp] = own;
    __syncthreads();
    int at = waiting;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w) {
      at += w < warp ? room.warps[w] : 0;
      waiting += room.warps[w];
    }
    const auto first = static_cast<uint32_t>(rows.first - begin);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (masks[k] & own_bit)
        room.waiting[at + __popc(masks[k] & (own_bit - 1))] =
            slots[k] >> all.slots.part_bits << kPlaceBits | (first + 32 * k);
      at += __popc(masks[k]);
    }
    __syncthreads();
    while (waiting >= kRows || (waiting > 0 && tile + kRows >= end)) {
      const int count = min(waiting, kRows);
      const PickedRows picked{begin, room.waiting + place, count - place};
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        slots[k] = picked.is_there(k) ? room.waiting[place + 32 * k] >> kPlaceBits : kThreads - 1;
      fold_tile(room, all, picked, slots, count, s, states);
      __syncthreads();
      waiting -= count;
      bring_forward(room, place, waiting);
    }
  }
}

constexpr int blocks_of_processor(FoldShape shape) {
  if (shape == FoldShape::kPart) return 4;  // more would need fewer registers than its folds do
  return shape == FoldShape::kSumsOfPart ? 8 : kBlocksAProcessor;
}

template <class Keys, FoldShape kShape>
__global__ void __launch_bounds__(kThreads, blocks_of_processor(kShape))
    fold_kernel(const __grid_constant__ Keys keys, const __grid_constant__ Runs all) {
  constexpr bool kShared = kShape != FoldShape::kRegisters;
  __shared__ TileRoom<kShape> room;
  extern __shared__ uint64_t dynamic[];
  const uint32_t slots = all.slots.of_part;
  const int64_t run = blockIdx.x >> all.slots.part_bits;
  const bool shares_fold = kShared && all.num_folds > 0 && !is_pair(all.folds[0].accumulator);
  auto* const own_sizes = reinterpret_cast<uint32_t*>(dynamic + (kShared ? slots : 0));
  BlockStates<kShape> states{
      uint64_t{blockIdx.x} * slots, blockIdx.x & ((1u << all.slots.part_bits) - 1),
      shares_fold ? dynamic : nullptr, all.sizes && kShared ? own_sizes : nullptr};
  for (uint32_t slot = threadIdx.x; slot < slots; slot += kThreads) {  // the thread's own
    if (states.sizes) states.sizes[slot] = 0;
    if (shares_fold) dynamic[slot] = all.folds[0].start;
    start_states(all, states.base, slot, shares_fold);
  }
  const int64_t begin = run * all.run_rows;
  const int64_t end = min(begin + all.run_rows, all.rows);
  const Stretch s{room.values, room.groups, room.places, room.present, nullptr};
  if constexpr (is_part(kShape))
    fold_picked(room, keys, all, begin, end, s, states);
  else
    fold_rows(room, keys, all, begin, end, s, states);
  if (!kShared && all.sizes && threadIdx.x < slots)
    all.sizes[states.base + threadIdx.x] = states.size;
  if constexpr (kShared)
    for (uint32_t slot = threadIdx.x; slot < slots; slot += kThreads) {
      if (shares_fold) all.folds[0].states[states.base + slot] = dynamic[slot];
      if (states.sizes) all.sizes[states.base + slot] = own_sizes[slot];
    }
}

template <FoldShape kShape, class Keys>
void launch(const Keys& keys, const Runs& all, int64_t runs, cudaStream_t stream) {
  const auto shared = [](int64_t slots) {
    return static_cast<int>(kShape == FoldShape::kRegisters ? 0 : 12 * slots);
  };
  if (kShape != FoldShape::kRegisters)  // the most of any call: other threads may launch it too
    check_cuda("groupby", cudaFuncSetAttribute(fold_kernel<Keys, kShape>,
                                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               shared(kMostShared)));
  fold_kernel<Keys, kShape><<<static_cast<unsigned>(runs << all.slots.part_bits), kThreads,
                              static_cast<size_t>(shared(all.slots.of_part)), stream>>>(keys, all);
}

}  // namespace

void fold_runs(DeviceCall& call, const RowSlots& slots, const Runs& all, int64_t runs,
               bool sums_doubles) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  slots.visit([&](const auto& keys) {
    if (all.slots.count <= kThreads)
      launch<FoldShape::kRegisters>(keys, all, runs, stream);
    else if (all.slots.part_bits == 0)
      launch<FoldShape::kShared>(keys, all, runs, stream);
    else if (sums_doubles)
      launch<FoldShape::kSumsOfPart>(keys, all, runs, stream);
    else
      launch<FoldShape::kPart>(keys, all, runs, stream);
  });
}

}  // namespace hr::cuda
