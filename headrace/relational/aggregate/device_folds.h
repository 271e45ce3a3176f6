// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: what groups fold of the rows of a tile, one thread the rows of its slots,
// in their order and with the operations of accumulators.cpp: the CPU's bits.
#pragma once
#include "headrace/algo/aggregate/accumulators.h"
#include "headrace/algo/bits/validity_device.h"
#include "headrace/algo/keys/normalized_keys_device.h"

#include <cstdint>
#include <cstring>
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
// A row that a part of the slots picked: its place in the run in the lower bits, then its slot.
inline constexpr int kPlaceBits = 20;

/// One column and its folds, of all runs.
struct Input {
  const void* values;
  const uint8_t* valid;  // bits; null: no row is null
  int64_t offset;
  uint32_t* missing;  // rows of a slot without a value; null: they are not counted
  TypeId type;
  ValueClass value_class;
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
  const uint32_t* picked;  // rows by place in the lower bits; null: the tile has all rows
  int64_t first_row = 0;   // of the tile, or of what was picked from
  int begin = 0;
  int end = 0;
  bool is_guarded = false;  // some row has no value
  bool is_floating = false;

  __device__ bool is_missing(int i) const {
    if (!is_guarded) return false;
    if (!is_floating) return !present[i];
    const auto value = value_of<double>(values[i]);
    return value != value;
  }

  __device__ uint32_t slot(int i) const { return uint32_t{groups[i]} * kThreads + threadIdx.x; }

  __device__ int64_t row(int i) const {
    const uint32_t place = places[i];
    return first_row + (picked ? picked[place] & ((1u << kPlaceBits) - 1) : place);
  }
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

/// Folds of values; `words` are the states of the run.
template <bool kDirect, class T, class Step>
__device__ __forceinline__ void fold_states(T* states, const Stretch& s, Step step) {
  fold_stretch<kDirect>(
      s, [&](uint32_t slot) { return states[slot]; },
      [&](uint32_t slot, T state) { states[slot] = state; }, step);
}

/// The first row of the minimum or maximum.
template <bool kDirect, class T>
__device__ __forceinline__ void fold_arguments(bool least, T* states, int64_t* rows,
                                               const Stretch& s) {
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
}

/// Sums of squared deviations and of deviations.
template <bool kDirect, class T>
__device__ __forceinline__ void fold_squares(const double* means, double* sums, const Stretch& s) {
  struct Squares {
    double squares;
    double rest;
    double mean;  // the same for a slot in all its rows: it travels with the state
  };
  fold_stretch<kDirect>(
      s,
      [&](uint32_t slot) {
        return Squares{sums[2 * uint64_t{slot}], sums[2 * uint64_t{slot} + 1], means[slot]};
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

/// Sums of third or fourth powers of deviations.
template <bool kDirect, class T>
__device__ __forceinline__ void fold_powers(bool cubes, const double* means, double* sums,
                                            const Stretch& s) {
  struct Apart {
    double sum;
    double mean;
  };
  fold_stretch<kDirect>(
      s, [&](uint32_t slot) { return Apart{sums[slot], means[slot]}; },
      [&](uint32_t slot, Apart state) { sums[slot] = state.sum; },
      [&](Apart& state, uint64_t word, int) {
        const double apart = static_cast<double>(value_of<T>(word)) - state.mean;
        state.sum += apart * apart * (cubes ? apart : apart * apart);
      });
}

/// One fold of a tile. `words` and `rows` are those of the run.
template <bool kDirect, class T>
__device__ __forceinline__ void fold_values(const Fold& fold, uint64_t* words, int64_t* rows,
                                            const Stretch& s) {
  auto* const states = reinterpret_cast<T*>(words);
  auto* const numbers = reinterpret_cast<int64_t*>(words);
  auto* const sums = reinterpret_cast<double*>(words);
  const auto of_states = [&](auto step) { fold_states<kDirect>(states, s, step); };
  const auto of_numbers = [&](auto step) { fold_states<kDirect>(numbers, s, step); };
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
      return fold_arguments<kDirect>(true, states, rows, s);
    case Accumulator::kArgmax:
      return fold_arguments<kDirect>(false, states, rows, s);
    case Accumulator::kSquares:
      return fold_squares<kDirect, T>(fold.means, sums, s);
    case Accumulator::kCubes:
      return fold_powers<kDirect, T>(true, fold.means, sums, s);
    case Accumulator::kFourths:
      return fold_powers<kDirect, T>(false, fold.means, sums, s);
    default:
      return;
  }
}

/// A thread's rows of a tile: neighbours of a warp are side by side.
struct TileRows {
  int64_t first;
  int left;

  __device__ bool is_there(int k) const { return 32 * k < left; }
  __device__ int64_t operator[](int k) const { return first + 32 * k; }
};

/// The words of a thread's rows: float64 with NaN for nulls, int64 or uint64.
template <class T, class Rows, int kCount>
__device__ __forceinline__ void load_words(const Input& input, const Rows& rows,
                                           uint64_t (&words)[kCount]) {
  const T* const values = static_cast<const T*>(input.values) + input.offset;
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const T value = rows.is_there(k) ? values[rows[k]] : T{0};
    if (input.value_class == ValueClass::kFloating)
      words[k] = word_of(static_cast<double>(value));
    else if constexpr (std::is_integral_v<T>)
      words[k] = static_cast<uint64_t>(value);
  }
}

template <class Rows, int kCount>
__device__ __forceinline__ void load_bits(const Input& input, const Rows& rows,
                                          uint64_t (&words)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const bool bit = rows.is_there(k) && bit_at(input.values, input.offset + rows[k]);
    words[k] =
        input.value_class == ValueClass::kFloating ? word_of(bit ? 1.0 : 0.0) : uint64_t{bit};
  }
}

template <class Rows, int kCount>
__device__ __forceinline__ void load(const Input& input, const Rows& rows,
                                     uint64_t (&words)[kCount]) {
  switch (input.type) {
    case TypeId::kFloat64:
      return load_words<double>(input, rows, words);
    case TypeId::kFloat32:
      return load_words<float>(input, rows, words);
    case TypeId::kInt64:
    case TypeId::kUInt64:
      if (input.value_class == ValueClass::kFloating && input.type == TypeId::kUInt64)
        return load_words<uint64_t>(input, rows, words);
      return load_words<int64_t>(input, rows, words);
    case TypeId::kInt32:
      return load_words<int32_t>(input, rows, words);
    case TypeId::kUInt32:
      return load_words<uint32_t>(input, rows, words);
    case TypeId::kInt16:
      return load_words<int16_t>(input, rows, words);
    case TypeId::kUInt16:
      return load_words<uint16_t>(input, rows, words);
    case TypeId::kInt8:
      return load_words<int8_t>(input, rows, words);
    case TypeId::kUInt8:
      return load_words<uint8_t>(input, rows, words);
    default:
      return load_bits(input, rows, words);
  }
}

/// Slots, dealt to parts in turn. A run has the states of one part after those of another.
struct Slots {
  uint32_t count;
  int part_bits;
  uint32_t of_part;

  /// States of a run.
  __host__ __device__ int64_t states() const { return int64_t{of_part} << part_bits; }

  __device__ int64_t place(int64_t slot) const {
    return (slot & ((1 << part_bits) - 1)) * of_part + (slot >> part_bits);
  }
};

/// Runs of rows, each with states of its own, and what they fold.
struct Runs {
  int64_t rows;
  int64_t run_rows;
  Slots slots;
  const Input* inputs;
  int num_inputs;
  const Fold* folds;
  int num_folds;
  uint32_t* sizes;  // of run and slot; null: they are known
  bool needs_rows;
};

}  // namespace hr::cuda::groups
