// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: what groups fold of the rows of a tile, one thread the rows of its slots,
// in their order and with the operations of accumulators.cpp: the CPU's bits.
#pragma once
#include "headrace/algo/aggregate/accumulators.h"
#include "headrace/algo/keys/normalized_keys_device.h"

#include <cstdint>
#include <cstring>
#include <cub/block/block_radix_rank.cuh>
#include <limits>
#include <type_traits>

namespace hr::cuda::groups {

inline constexpr int kBits = 7;
inline constexpr int kThreads = 1 << kBits;  // of a block, and buckets of a tile: slot modulo these
inline constexpr int kItems = 16;
inline constexpr int kTile = kThreads * kItems;
inline constexpr int kUnroll = 8;
inline constexpr int kAhead = 2 * kUnroll;  // so far behind a tile folds read, without using it
// All runs of 10^8 rows are under way together: the longest chain of additions is then a run.
inline constexpr int kBlocksAProcessor = 6;

/// One column and its folds, of all runs.
struct Input {
  const void* values;
  const uint8_t* valid;  // bits; null: no row is null
  int64_t offset;
  uint32_t* missing;  // rows of a slot without a value; null: they are not counted
  TypeId type;
  ValueClass value_class;
  bool can_miss;
  bool has_values;
  int width;  // bytes of a value; 0: of bits
  int first_fold;
  int num_folds;
};

struct Fold {
  Accumulator accumulator;
  uint64_t* states;  // one or two words a slot
  int64_t* rows;     // of arguments
  const double* means;
  uint64_t start;
};

__device__ inline bool is_pair(Accumulator accumulator) {
  return accumulator == Accumulator::kSquares;
}

template <class T>
__device__ T value_of(uint64_t word) {
  T value;
  memcpy(&value, &word, sizeof value);
  return value;
}

template <class T>
__device__ uint64_t word_of(T value) {
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

template <class T>
__device__ T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <class T>
__device__ T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// The rows of a bucket in a tile, in order.
struct Stretch {
  const uint64_t* values;
  const uint16_t* groups;  // slot / kThreads
  const uint16_t* places;  // in the tile
  const uint8_t* present;
  int64_t first_row;  // of the tile
  int begin;
  int end;
  bool is_guarded;  // some row has no value
  bool is_floating;

  __device__ bool is_missing(int i) const {
    if (!is_guarded) return false;
    if (!is_floating) return !present[i];
    const auto value = value_of<double>(values[i]);
    return value != value;
  }

  __device__ uint32_t slot(int i) const { return uint32_t{groups[i]} * kThreads + threadIdx.x; }

  __device__ int64_t row(int i) const { return first_row + places[i]; }
};

/// Folds a stretch by step(state, word, i); where slots change, states are stored and loaded.
template <bool kDirect, class Load, class Store, class Step>
__device__ __forceinline__ void fold_stretch(const Stretch& s, Load load, Store store, Step step) {
  if (s.begin >= s.end) return;
  if constexpr (kDirect) {
    auto state = load(threadIdx.x);
    if (s.is_guarded) {
      for (int i = s.begin; i < s.end; ++i)
        if (!s.is_missing(i)) step(state, s.values[i], i);
    } else {
      // The next words are on their way while these are folded.
      uint64_t words[kUnroll], next[kUnroll];
#pragma unroll
      for (int k = 0; k < kUnroll; ++k) next[k] = s.values[s.begin + k];
      for (int i = s.begin; i < s.end; i += kUnroll) {
#pragma unroll
        for (int k = 0; k < kUnroll; ++k) words[k] = next[k];
#pragma unroll
        for (int k = 0; k < kUnroll; ++k) next[k] = s.values[i + kUnroll + k];
        const int left = s.end - i;
#pragma unroll
        for (int k = 0; k < kUnroll; ++k)
          if (k < left) step(state, words[k], i + k);
      }
    }
    store(threadIdx.x, state);
  } else {
    uint32_t current = s.slot(s.begin);
    auto state = load(current);
    constexpr int kBatch = 4;
    for (int i = s.begin; i < s.end; i += kBatch) {
      uint64_t words[kBatch];
      uint32_t slots[kBatch];
      bool there[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const int at = i + k;
        words[k] = s.values[at];
        slots[k] = s.slot(at);
        there[k] = i + k < s.end && !s.is_missing(at);
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (!there[k]) continue;
        if (slots[k] != current) {
          store(current, state);
          state = load(slots[k]);
          current = slots[k];
        }
        step(state, words[k], i + k);
      }
    }
    store(current, state);
  }
}

template <class T>
struct Argument {
  T value;
  int64_t row;
};

struct Pair {
  double first;
  double second;
};

/// One fold of a tile. `states` and `rows` are those of the run.
template <bool kDirect, class T>
__device__ __forceinline__ void fold_values(const Fold& fold, uint64_t* words, int64_t* rows,
                                            const Stretch& s) {
  auto* const states = reinterpret_cast<T*>(words);
  const auto of_states = [&](auto step) {
    fold_stretch<kDirect>(
        s, [&](uint32_t slot) { return states[slot]; },
        [&](uint32_t slot, T state) { states[slot] = state; }, step);
  };
  auto* const numbers = reinterpret_cast<int64_t*>(words);
  const auto of_numbers = [&](auto step) {
    fold_stretch<kDirect>(
        s, [&](uint32_t slot) { return numbers[slot]; },
        [&](uint32_t slot, int64_t state) { numbers[slot] = state; }, step);
  };
  const auto of_arguments = [&](bool least) {
    fold_stretch<kDirect>(
        s, [&](uint32_t slot) { return Argument<T>{states[slot], rows[slot]}; },
        [&](uint32_t slot, Argument<T> state) {
          states[slot] = state.value;
          rows[slot] = state.row;
        },
        [&](Argument<T>& state, uint64_t word, int i) {
          const T x = value_of<T>(word);
          if (state.row >= 0 && !(least ? x < state.value : state.value < x)) return;
          state = {x, s.row(i)};
        });
  };
  // `means` are the same for a slot in all its rows: they travel with the state.
  struct Apart {
    double sum;
    double mean;
  };
  const auto of_powers = [&](bool cubes) {
    auto* const sums = reinterpret_cast<double*>(words);
    fold_stretch<kDirect>(
        s, [&](uint32_t slot) { return Apart{sums[slot], fold.means[slot]}; },
        [&](uint32_t slot, Apart state) { sums[slot] = state.sum; },
        [&](Apart& state, uint64_t word, int) {
          const double apart = static_cast<double>(value_of<T>(word)) - state.mean;
          state.sum += apart * apart * (cubes ? apart : apart * apart);
        });
  };
  switch (fold.accumulator) {
    case Accumulator::kSum:
      return of_states(
          [](T& state, uint64_t word, int) { state = plus(state, value_of<T>(word)); });
    case Accumulator::kProduct:
      return of_states(
          [](T& state, uint64_t word, int) { state = times(state, value_of<T>(word)); });
    case Accumulator::kMin:
      return of_states([](T& state, uint64_t word, int) {
        const T x = value_of<T>(word);
        state = x < state ? x : state;
      });
    case Accumulator::kMax:
      return of_states([](T& state, uint64_t word, int) {
        const T x = value_of<T>(word);
        state = state < x ? x : state;
      });
    case Accumulator::kNonZero:
      return of_numbers(
          [](int64_t& state, uint64_t word, int) { state += value_of<T>(word) != T{0}; });
    case Accumulator::kFirst:
      return of_numbers(
          [&](int64_t& state, uint64_t, int i) { state = state < 0 ? s.row(i) : state; });
    case Accumulator::kLast:
      return of_numbers([&](int64_t& state, uint64_t, int i) { state = s.row(i); });
    case Accumulator::kArgmin:
      return of_arguments(true);
    case Accumulator::kArgmax:
      return of_arguments(false);
    case Accumulator::kSquares: {
      struct Squares {
        double squares;
        double rest;
        double mean;
      };
      auto* const sums = reinterpret_cast<double*>(words);
      return fold_stretch<kDirect>(
          s,
          [&](uint32_t slot) {
            return Squares{sums[2 * uint64_t{slot}], sums[2 * uint64_t{slot} + 1],
                           fold.means[slot]};
          },
          [&](uint32_t slot, Squares state) {
            sums[2 * uint64_t{slot}] = state.squares;
            sums[2 * uint64_t{slot} + 1] = state.rest;
          },
          [&](Squares& state, uint64_t word, int) {
            const double apart = static_cast<double>(value_of<T>(word)) - state.mean;
            state.squares += apart * apart;
            state.rest += apart;
          });
    }
    case Accumulator::kCubes:
      return of_powers(true);
    case Accumulator::kFourths:
      return of_powers(false);
    default:
      return;
  }
}

/// The words of a thread's rows: float64 with NaN for nulls, int64 or uint64. `left` of the rows
/// from `row` on are there.
template <class T>
__device__ __forceinline__ void load_words(const Input& input, int64_t row, int left,
                                           uint64_t (&words)[kItems]) {
  const T* const values = static_cast<const T*>(input.values) + input.offset + row;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const T value = 32 * k < left ? values[32 * k] : T{0};
    if (input.value_class == ValueClass::kFloating)
      words[k] = word_of(static_cast<double>(value));
    else if constexpr (std::is_integral_v<T>)
      words[k] = static_cast<uint64_t>(value);
  }
}

__device__ __forceinline__ bool bit_at(const void* bits, int64_t at) {
  return static_cast<const uint8_t*>(bits)[at >> 3] >> (at & 7) & 1;
}

__device__ __forceinline__ void load_bits(const Input& input, int64_t row, int left,
                                          uint64_t (&words)[kItems]) {
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const bool bit = 32 * k < left && bit_at(input.values, input.offset + row + 32 * k);
    words[k] =
        input.value_class == ValueClass::kFloating ? word_of(bit ? 1.0 : 0.0) : uint64_t{bit};
  }
}

__device__ __forceinline__ void load(const Input& input, int64_t row, int left,
                                     uint64_t (&words)[kItems]) {
  switch (input.type) {
    case TypeId::kFloat64:
      return load_words<double>(input, row, left, words);
    case TypeId::kFloat32:
      return load_words<float>(input, row, left, words);
    case TypeId::kInt64:
    case TypeId::kUInt64:
      if (input.value_class == ValueClass::kFloating && input.type == TypeId::kUInt64)
        return load_words<uint64_t>(input, row, left, words);
      return load_words<int64_t>(input, row, left, words);
    case TypeId::kInt32:
      return load_words<int32_t>(input, row, left, words);
    case TypeId::kUInt32:
      return load_words<uint32_t>(input, row, left, words);
    case TypeId::kInt16:
      return load_words<int16_t>(input, row, left, words);
    case TypeId::kUInt16:
      return load_words<uint16_t>(input, row, left, words);
    case TypeId::kInt8:
      return load_words<int8_t>(input, row, left, words);
    case TypeId::kUInt8:
      return load_words<uint8_t>(input, row, left, words);
    default:
      return load_bits(input, row, left, words);
  }
}

struct LowBits {
  __device__ uint32_t Digit(uint32_t slot) const { return slot & (kThreads - 1); }
};

using Ranker =
    cub::BlockRadixRankMatchEarlyCounts<kThreads, kBits, false, cub::BLOCK_SCAN_WARP_SCANS,
                                        cub::WARP_MATCH_ANY, 1>;

/// Where a run keeps the states of its first fold, and how many rows each slot has. Other folds
/// have theirs in global memory.
enum class StatesIn { kRegisters, kShared, kGlobal };

/// Bytes of shared memory for these.
inline size_t shared_states(int64_t slots, StatesIn where) {
  return where == StatesIn::kShared ? static_cast<size_t>(12 * slots) : 0;
}

/// Runs of rows, each with states of its own, and what they fold.
struct Runs {
  int64_t rows;
  int64_t run_rows;
  const int64_t*
      begins;  // of each run, and the end of the last one; null: at multiples of run_rows
  uint32_t slots;
  const Input* inputs;
  int num_inputs;
  const Fold* folds;
  int num_folds;
  uint32_t* sizes;  // of run and slot; null: they are known
  bool needs_rows;
};

template <class Keys, StatesIn kStates>
__global__ void __launch_bounds__(kThreads, kBlocksAProcessor)
    fold_kernel(const __grid_constant__ Keys keys, const __grid_constant__ Runs all) {
  constexpr bool kDirect = kStates == StatesIn::kRegisters;
  __shared__ union {
    typename Ranker::TempStorage rank;
    uint64_t values[kTile + kAhead];
  } room;
  __shared__ uint16_t groups[kDirect ? 1 : kTile + kAhead];
  __shared__ uint16_t places[kTile];
  __shared__ uint8_t present[kTile + kAhead];
  __shared__ int begins[kThreads + 1];
  extern __shared__ uint64_t own_states[];

  constexpr bool kShared = kStates == StatesIn::kShared;
  const int64_t run = blockIdx.x;
  const uint64_t base = static_cast<uint64_t>(run) * all.slots;  // of the run's states
  const bool shares_fold = kShared && all.num_folds > 0 && !is_pair(all.folds[0].accumulator);
  auto* const own_sizes = reinterpret_cast<uint32_t*>(own_states + (kShared ? all.slots : 0));
  uint32_t* const sizes = kShared ? own_sizes : all.sizes + base;
  for (uint32_t slot = threadIdx.x; slot < all.slots; slot += kThreads) {  // the thread's own
    if constexpr (kShared) own_sizes[slot] = 0;
    for (int k = 0; k < all.num_folds; ++k) {
      const Fold& fold = all.folds[k];
      if (k == 0 && shares_fold) {
        own_states[slot] = fold.start;
      } else if (is_pair(fold.accumulator)) {
        fold.states[2 * (base + slot)] = fold.start;
        fold.states[2 * (base + slot) + 1] = fold.start;
      } else {
        fold.states[base + slot] = fold.start;
      }
      if (fold.rows) fold.rows[base + slot] = -1;
    }
    for (int k = 0; k < all.num_inputs; ++k)
      if (all.inputs[k].missing) all.inputs[k].missing[base + slot] = 0;
    if (kStates == StatesIn::kGlobal && all.sizes) sizes[slot] = 0;
  }

  const int64_t begin = all.begins ? all.begins[run] : run * all.run_rows;
  const int64_t end = all.begins ? all.begins[run + 1] : min(begin + all.run_rows, all.rows);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  uint32_t size = 0;
  for (int64_t tile = begin; tile < end; tile += kTile) {
    const auto count = static_cast<int>(min(int64_t{kTile}, end - tile));
    const int place = warp * 32 * kItems + lane;  // of the thread's first row
    const int left = count - place;
    for (int k = 0; k < all.num_inputs; ++k) {
      const Input& input = all.inputs[k];
      if (input.width > 0)
        prefetch_bytes(
            static_cast<const std::byte*>(input.values) + (input.offset + tile) * input.width,
            count * input.width);
    }
    if (const auto more = static_cast<int>(min(int64_t{kTile}, end - tile - kTile)); more > 0)
      keys.prefetch(tile + kTile, more);
    uint32_t slots[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      // Rows behind the end are last, in the last bucket.
      slots[k] = 32 * k < left ? static_cast<uint32_t>(keys(tile + place + 32 * k)) : kThreads - 1;
    }
    int ranks[kItems];
    int prefix[1];
    Ranker(room.rank).RankKeys(slots, ranks, LowBits{}, prefix);
    begins[threadIdx.x] = prefix[0];
    if (threadIdx.x == 0) begins[kThreads] = count;
    if constexpr (!kDirect)
#pragma unroll
      for (int k = 0; k < kItems; ++k) groups[ranks[k]] = static_cast<uint16_t>(slots[k] >> kBits);
    if (all.needs_rows)
#pragma unroll
      for (int k = 0; k < kItems; ++k) places[ranks[k]] = static_cast<uint16_t>(place + 32 * k);
    __syncthreads();
    Stretch s{
        room.values, groups, places, present, tile, begins[threadIdx.x], begins[threadIdx.x + 1],
        false,       false};
    s.begin = min(s.begin, count);

    for (int k = 0; k < all.num_inputs; ++k) {
      const Input& input = all.inputs[k];
      s.is_floating = input.value_class == ValueClass::kFloating;
      bool misses = false;
      uint64_t words[kItems];
      if (input.has_values) {
        load(input, tile + place, left, words);
        if (s.is_floating && input.valid)
#pragma unroll
          for (int i = 0; i < kItems; ++i) {
            const int64_t at = tile + place + 32 * i;
            if (32 * i < left && !bit_at(input.valid, input.offset + at))
              words[i] = word_of(std::numeric_limits<double>::quiet_NaN());
          }
        if (s.is_floating)
#pragma unroll
          for (int i = 0; i < kItems; ++i) {
            const auto value = value_of<double>(words[i]);
            misses |= value != value;
          }
#pragma unroll
        for (int i = 0; i < kItems; ++i) room.values[ranks[i]] = words[i];
      }
      if (!s.is_floating && input.valid)
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
          const int64_t at = tile + place + 32 * i;
          const bool there = 32 * i >= left || bit_at(input.valid, input.offset + at);
          present[ranks[i]] = there;
          misses |= !there;
        }
      s.is_guarded = __syncthreads_or(misses) != 0;
      if (s.is_guarded && input.missing) {
        uint32_t* const missing = input.missing + base;
        for (int i = s.begin; i < s.end; ++i)
          if (s.is_missing(i)) ++missing[kDirect ? threadIdx.x : s.slot(i)];
      }
      for (int f = input.first_fold; f < input.first_fold + input.num_folds; ++f) {
        const Fold& fold = all.folds[f];
        uint64_t* const words_of_run =
            f == 0 && shares_fold ? own_states
                                  : fold.states + base * (is_pair(fold.accumulator) ? 2 : 1);
        int64_t* const rows_of_run = fold.rows ? fold.rows + base : nullptr;
        if (s.is_floating)
          fold_values<kDirect, double>(fold, words_of_run, rows_of_run, s);
        else if (input.value_class == ValueClass::kUnsigned)
          fold_values<kDirect, uint64_t>(fold, words_of_run, rows_of_run, s);
        else
          fold_values<kDirect, int64_t>(fold, words_of_run, rows_of_run, s);
      }
      __syncthreads();
    }

    if (!all.sizes) continue;
    if constexpr (kDirect) {
      size += static_cast<uint32_t>(s.end - s.begin);
    } else if (s.begin < s.end) {
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
  }
  if (kDirect && all.sizes && threadIdx.x < all.slots) sizes[threadIdx.x] = size;
  if constexpr (kShared)
    for (uint32_t slot = threadIdx.x; slot < all.slots; slot += kThreads) {
      if (shares_fold) all.folds[0].states[base + slot] = own_states[slot];
      if (all.sizes) all.sizes[base + slot] = own_sizes[slot];
    }
}

/// Folds the runs, a block each.
template <class Keys, StatesIn kStates>
void fold_runs(const Keys& keys, const Runs& all, int64_t runs, cudaStream_t stream) {
  const size_t bytes = shared_states(all.slots, kStates);
  if (bytes > 0)
    check_cuda("groupby", cudaFuncSetAttribute(fold_kernel<Keys, kStates>,
                                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               static_cast<int>(bytes)));
  fold_kernel<Keys, kStates><<<static_cast<unsigned>(runs), kThreads, bytes, stream>>>(keys, all);
}

}  // namespace hr::cuda::groups
