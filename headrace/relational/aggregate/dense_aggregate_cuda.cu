// SPDX-License-Identifier: Apache-2.0
// Group-by of few slots on a CUDA device. A block of threads takes a run of rows, tile by tile: it
// ranks the rows of a tile by bucket (slot modulo the threads), stably, puts their values in that
// order into shared memory, and each thread folds the rows of its own bucket, one after the other.
// So a slot's rows are added in the CPU's order, without atomics. Runs are joined in order then.
#include "headrace/algo/keys/normalized_keys_device.h"
#include "headrace/relational/aggregate/dense_aggregate_kernels.h"
#include "headrace/relational/aggregate/device_folds.h"

#include <algorithm>
#include <cstring>
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

/// Where a run keeps the states of its first fold, and how many rows each slot has. Other folds
/// have theirs in global memory.
enum class StatesIn { kRegisters, kShared, kGlobal };

/// Bytes of shared memory for these.
inline constexpr int64_t kMostShared = 4096;  // slots: three blocks of a processor have room

inline size_t shared_states(int64_t slots, StatesIn where) {
  return where == StatesIn::kShared ? static_cast<size_t>(12 * slots) : 0;
}

/// What a tile needs in shared memory.
template <bool kDirect>
struct TileRoom {
  union {
    typename Ranker::TempStorage rank;
    uint64_t values[kTile + kAhead];
  };
  uint16_t groups[kDirect ? 1 : kTile + kAhead];
  uint16_t places[kTile];
  uint8_t present[kTile + kAhead];
  int begins[kThreads + 1];
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

/// Puts the values of one input in the order of the slots; whether the thread's lack some. `row` is
/// the thread's first one, and `left` are there from it on.
template <bool kDirect>
__device__ __forceinline__ bool place_values(const Input& input, int64_t row, int left,
                                             const int (&ranks)[kItems], TileRoom<kDirect>& room) {
  const bool is_floating = input.value_class == ValueClass::kFloating;
  bool misses = false;
  if (input.has_values) {
    uint64_t words[kItems];
    load(input, row, left, words);
    if (is_floating && input.valid)
#pragma unroll
      for (int i = 0; i < kItems; ++i)
        if (32 * i < left && !bit_at(input.valid, input.offset + row + 32 * i))
          words[i] = word_of(std::numeric_limits<double>::quiet_NaN());
    if (is_floating)
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        const auto value = value_of<double>(words[i]);
        misses |= value != value;
      }
#pragma unroll
    for (int i = 0; i < kItems; ++i) room.values[ranks[i]] = words[i];
  }
  if (!is_floating && input.valid)
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const bool there = 32 * i >= left || bit_at(input.valid, input.offset + row + 32 * i);
      room.present[ranks[i]] = there;
      misses |= !there;
    }
  return misses;
}

/// All folds of one input. `own_states`: of the first fold, if they are in shared memory.
template <bool kDirect>
__device__ __forceinline__ void fold_input(const Runs& all, const Input& input, uint64_t base,
                                           uint64_t* own_states, const Stretch& s) {
  if (s.is_guarded && input.missing) {
    uint32_t* const missing = input.missing + base;
    for (int i = s.begin; i < s.end; ++i)
      if (s.is_missing(i)) ++missing[kDirect ? threadIdx.x : s.slot(i)];
  }
  for (int f = input.first_fold; f < input.first_fold + input.num_folds; ++f) {
    const Fold& fold = all.folds[f];
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

template <class Keys, StatesIn kStates>
__global__ void __launch_bounds__(kThreads, kBlocksAProcessor)
    fold_kernel(const __grid_constant__ Keys keys, const __grid_constant__ Runs all) {
  constexpr bool kDirect = kStates == StatesIn::kRegisters;
  constexpr bool kShared = kStates == StatesIn::kShared;
  __shared__ TileRoom<kDirect> room;
  extern __shared__ uint64_t dynamic[];
  const int64_t run = blockIdx.x;
  const uint64_t base = static_cast<uint64_t>(run) * all.slots;  // of the run's states
  const bool shares_fold = kShared && all.num_folds > 0 && !is_pair(all.folds[0].accumulator);
  auto* const own_sizes = reinterpret_cast<uint32_t*>(dynamic + (kShared ? all.slots : 0));
  uint32_t* const sizes = kShared ? own_sizes : all.sizes + base;
  for (uint32_t slot = threadIdx.x; slot < all.slots; slot += kThreads) {  // the thread's own
    if (kShared || (kStates == StatesIn::kGlobal && all.sizes)) sizes[slot] = 0;
    if (shares_fold) dynamic[slot] = all.folds[0].start;
    start_states(all, base, slot, shares_fold);
  }

  const int64_t begin = run * all.run_rows;
  const int64_t end = min(begin + all.run_rows, all.rows);
  const int place = threadIdx.x / 32 * 32 * kItems + threadIdx.x % 32;  // the thread's first row
  uint32_t size = 0;
  for (int64_t tile = begin; tile < end; tile += kTile) {
    const auto count = static_cast<int>(min(int64_t{kTile}, end - tile));
    const int left = count - place;
    prefetch(keys, all, tile, count, end);
    uint32_t slots[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k)  // rows behind the end are last, in the last bucket
      slots[k] = 32 * k < left ? static_cast<uint32_t>(keys(tile + place + 32 * k)) : kThreads - 1;
    int ranks[kItems];
    int prefix[1];
    Ranker(room.rank).RankKeys(slots, ranks, LowBits{}, prefix);
    room.begins[threadIdx.x] = prefix[0];
    if (threadIdx.x == 0) room.begins[kThreads] = count;
    if constexpr (!kDirect)
#pragma unroll
      for (int k = 0; k < kItems; ++k)
        room.groups[ranks[k]] = static_cast<uint16_t>(slots[k] >> kBits);
    if (all.needs_rows)
#pragma unroll
      for (int k = 0; k < kItems; ++k)
        room.places[ranks[k]] = static_cast<uint16_t>(place + 32 * k);
    __syncthreads();
    Stretch s{room.values,
              room.groups,
              room.places,
              room.present,
              tile,
              min(room.begins[threadIdx.x], count),
              room.begins[threadIdx.x + 1],
              false,
              false};
    for (int k = 0; k < all.num_inputs; ++k) {
      const Input& input = all.inputs[k];
      s.is_floating = input.value_class == ValueClass::kFloating;
      const bool misses = place_values<kDirect>(input, tile + place, left, ranks, room);
      s.is_guarded = __syncthreads_or(misses) != 0;
      fold_input<kDirect>(all, input, base, shares_fold ? dynamic : nullptr, s);
      __syncthreads();
    }
    if (kDirect) size += static_cast<uint32_t>(s.end - s.begin);
    if (!kDirect && all.sizes) count_rows(s, sizes);
  }
  if (kDirect && all.sizes && threadIdx.x < all.slots) sizes[threadIdx.x] = size;
  if constexpr (kShared)
    for (uint32_t slot = threadIdx.x; slot < all.slots; slot += kThreads) {
      if (shares_fold) all.folds[0].states[base + slot] = dynamic[slot];
      if (all.sizes) all.sizes[base + slot] = own_sizes[slot];
    }
}

/// Folds the runs, a block each.
template <class Keys, StatesIn kStates>
void fold_runs(const Keys& keys, const Runs& all, int64_t runs, cudaStream_t stream) {
  const size_t bytes = shared_states(all.slots, kStates);
  if (bytes > 0)  // the most that any call asks for, as other threads may launch it too
    check_cuda("groupby",
               cudaFuncSetAttribute(fold_kernel<Keys, kStates>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_states(kMostShared, kStates))));
  fold_kernel<Keys, kStates><<<static_cast<unsigned>(runs), kThreads, bytes, stream>>>(keys, all);
}

/// The states of runs joined in order by join(first, second), a thread a state.
template <class T, class Join>
__device__ void join_runs(const T* __restrict__ from, T* __restrict__ to, int64_t count,
                          int64_t runs, Join join) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  T total = from[i];
  int64_t run = 1;
  constexpr int kRuns = 16;
  for (; run + kRuns <= runs; run += kRuns) {
    T next[kRuns];
#pragma unroll
    for (int k = 0; k < kRuns; ++k) next[k] = from[(run + k) * count + i];
#pragma unroll
    for (int k = 0; k < kRuns; ++k) total = join(total, next[k]);
  }
  for (; run < runs; ++run) total = join(total, from[run * count + i]);
  to[i] = total;
}

template <class T>
__device__ void join_fold(Accumulator accumulator, const T* from, T* to, int64_t count,
                          int64_t runs) {
  switch (accumulator) {
    case Accumulator::kProduct:
      return join_runs(from, to, count, runs, [](T a, T b) { return times(a, b); });
    case Accumulator::kMin:
      return join_runs(from, to, count, runs, [](T a, T b) { return b < a ? b : a; });
    case Accumulator::kMax:
      return join_runs(from, to, count, runs, [](T a, T b) { return a < b ? b : a; });
    default:
      return join_runs(from, to, count, runs, [](T a, T b) { return plus(a, b); });
  }
}

template <class T>
__device__ void join_arguments(bool least, const T* values, const int64_t* rows, T* to,
                               int64_t* row_to, int64_t slots, int64_t runs) {
  const int64_t slot = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (slot >= slots) return;
  T value = values[slot];
  int64_t row = rows[slot];
  for (int64_t run = 1; run < runs; ++run) {
    const T other = values[run * slots + slot];
    const int64_t at = rows[run * slots + slot];
    const bool better = least ? other < value : value < other;
    if (at < 0 || (row >= 0 && !better)) continue;
    value = other;
    row = at;
  }
  to[slot] = value;
  row_to[slot] = row;
}

struct Joined {
  Fold fold;
  ValueClass value_class;
  uint64_t* to;
  int64_t* rows_to;
};

template <class T>
__device__ void join_values(const Joined& joined, int64_t slots, int64_t runs) {
  const Accumulator accumulator = joined.fold.accumulator;
  const auto* const from = reinterpret_cast<const T*>(joined.fold.states);
  auto* const to = reinterpret_cast<T*>(joined.to);
  if (joined.rows_to)
    return join_arguments(accumulator == Accumulator::kArgmin, from, joined.fold.rows, to,
                          joined.rows_to, slots, runs);
  join_fold(accumulator, from, to, slots, runs);
}

__global__ void join_folds_kernel(const Joined* __restrict__ folds, int64_t slots, int64_t runs) {
  const Joined joined = folds[blockIdx.y];
  const Accumulator accumulator = joined.fold.accumulator;
  const auto* const numbers = reinterpret_cast<const int64_t*>(joined.fold.states);
  auto* const to = reinterpret_cast<int64_t*>(joined.to);
  if (accumulator == Accumulator::kFirst)
    return join_runs(numbers, to, slots, runs, [](int64_t a, int64_t b) { return a < 0 ? b : a; });
  if (accumulator == Accumulator::kLast)
    return join_runs(numbers, to, slots, runs, [](int64_t a, int64_t b) { return b < 0 ? a : b; });
  if (accumulator == Accumulator::kNonZero)
    return join_runs(numbers, to, slots, runs, [](int64_t a, int64_t b) { return a + b; });
  if (is_pair(accumulator)) {  // twice as many threads
    const auto* const sums = reinterpret_cast<const double*>(joined.fold.states);
    return join_runs(sums, reinterpret_cast<double*>(joined.to), 2 * slots, runs,
                     [](double a, double b) { return a + b; });
  }
  if (joined.value_class == ValueClass::kFloating || joined.fold.means)
    return join_values<double>(joined, slots, runs);
  if (joined.value_class == ValueClass::kUnsigned)
    return join_values<uint64_t>(joined, slots, runs);
  join_values<int64_t>(joined, slots, runs);
}

struct Counts {
  const uint32_t* from;
  uint32_t* to;
};

__global__ void join_counts_kernel(const Counts* __restrict__ counts, int64_t slots, int64_t runs) {
  const Counts joined = counts[blockIdx.y];
  join_runs(joined.from, joined.to, slots, runs, [](uint32_t a, uint32_t b) { return a + b; });
}

template <class T>
__global__ void means_kernel(const T* sums, const uint32_t* sizes, const uint32_t* missing,
                             int64_t slots, double* means) {
  const int64_t slot = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (slot >= slots) return;
  const int64_t count = int64_t{sizes[slot]} - (missing ? missing[slot] : 0);
  means[slot] = count == 0 ? std::numeric_limits<double>::quiet_NaN()
                           : static_cast<double>(sums[slot]) / static_cast<double>(count);
}

/// The first run with rows of each slot, and which runs are one.
__global__ void first_runs_kernel(const uint32_t* __restrict__ sizes, int64_t slots, int64_t runs,
                                  uint32_t* __restrict__ first_runs, uint8_t* __restrict__ needed,
                                  unsigned long long* __restrict__ first) {
  const int64_t slot = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (slot >= slots) return;
  first[slot] = ~0ull;  // -1: of no row
  int64_t run = 0;
  while (run < runs && sizes[run * slots + slot] == 0) ++run;
  first_runs[slot] = static_cast<uint32_t>(run);
  if (run < runs) needed[run] = 1;
}

template <class Keys>
__global__ void first_rows_kernel(const __grid_constant__ Keys keys, int64_t rows, int64_t run_rows,
                                  const uint32_t* __restrict__ first_runs,
                                  const uint8_t* __restrict__ needed, unsigned long long* first) {
  const unsigned tiles = static_cast<unsigned>((run_rows + kTile - 1) / kTile);
  const unsigned run = blockIdx.x / tiles;
  if (!needed[run]) return;
  const int64_t run_end = min((int64_t{run} + 1) * run_rows, rows);
  const int64_t begin = run * run_rows + int64_t{blockIdx.x % tiles} * kTile;
  for (int64_t row = begin + threadIdx.x; row < min(begin + kTile, run_end); row += kThreads) {
    const auto slot = static_cast<uint32_t>(keys(row));
    if (first_runs[slot] != run) continue;
    const auto number = static_cast<unsigned long long>(row);
    if (number < *static_cast<volatile unsigned long long*>(&first[slot]))
      atomicMin(&first[slot], number);
  }
}

int64_t words_of(Accumulator accumulator) {
  return accumulator == Accumulator::kSquares ? 2 : 1;
}

bool is_argument(Accumulator accumulator) {
  return accumulator == Accumulator::kArgmin || accumulator == Accumulator::kArgmax;
}

/// One group-by.
class DenseFold {
 public:
  DenseFold(const AggregatePlan& plan, const NormalizedKeys& packed, int64_t run_rows)
      : plan_(plan),
        packed_(packed),
        slots_(static_cast<int64_t>(packed.domain())),
        run_rows_(run_rows),
        runs_((packed.num_rows() + run_rows - 1) / run_rows),
        call_("groupby", packed.key_fields()[0].column.place()) {}

  AggregatePartition run(bool wants_first) {
    lay_out(wants_first);
    totals_ = call_.scratch(total_bytes_);
    total_ = call_.writes(totals_);
    with_keys(call_, packed_, tables_, [&](const auto& keys) {
      pass(keys, false);
      if (plan_.needs_second) {
        make_means();
        pass(keys, true);
      }
      if (wants_first) find_first_rows(keys);
    });
    call_.finish(cudaGetLastError());
    return fetch(wants_first);
  }

 private:
  // Where the total of a fold, of missing values or of rows is, in bytes.
  struct InputTotals {
    std::vector<int64_t> folds{};
    std::vector<int64_t> rows{};
    int64_t missing = -1;
    const double* means = nullptr;
  };

  int64_t place(int64_t bytes) {
    const int64_t at = total_bytes_;
    total_bytes_ += (bytes + 7) / 8 * 8;
    return at;
  }

  void lay_out(bool wants_first) {
    sizes_at_ = place(4 * slots_);
    if (wants_first) first_at_ = place(8 * slots_);
    for (const AccumulatorInput& input : plan_.inputs) {
      InputTotals& totals = totals_of_.emplace_back();
      for (const Accumulator accumulator : input.accumulators) {
        totals.folds.push_back(place(8 * words_of(accumulator) * slots_));
        totals.rows.push_back(is_argument(accumulator) ? place(8 * slots_) : -1);
      }
      if (input.can_miss()) totals.missing = place(4 * slots_);
    }
  }

  template <class T>
  T* total(int64_t at) const {
    return reinterpret_cast<T*>(total_ + at);
  }

  unsigned slot_blocks() const { return blocks_of(slots_, kThreads); }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream()); }

  template <class T>
  T* scratch(int64_t count) {
    scratch_.push_back(call_.scratch(count * static_cast<int64_t>(sizeof(T))));
    return call_.writes_as<T>(scratch_.back());
  }

  template <class T>
  const T* table(const std::vector<T>& values) {
    if (values.empty()) return nullptr;
    tables_.push_back(call_.table(values.data(), static_cast<int64_t>(values.size() * sizeof(T))));
    return tables_.back().template as<T>();
  }

  template <class Keys>
  void pass(const Keys& keys, bool second) {
    std::vector<Input> inputs;
    std::vector<Fold> folds;
    std::vector<Joined> joined;
    std::vector<Counts> counts;
    Runs all{};
    all.rows = packed_.num_rows();
    all.run_rows = run_rows_;
    all.slots = static_cast<uint32_t>(slots_);
    if (!second) {
      all.sizes = sizes_ = scratch<uint32_t>(runs_ * slots_);
      counts.push_back({all.sizes, total<uint32_t>(sizes_at_)});
    }
    for (size_t k = 0; k < plan_.inputs.size(); ++k) {
      const AccumulatorInput& input = plan_.inputs[k];
      if (second && !input.needs_second()) continue;
      InputTotals& totals = totals_of_[k];
      Input made{};
      made.first_fold = static_cast<int>(folds.size());
      made.value_class = input.value_class;
      for (size_t a = 0; a < input.accumulators.size(); ++a) {
        const Accumulator accumulator = input.accumulators[a];
        if (is_second(accumulator) != second) continue;
        Fold fold{accumulator, scratch<uint64_t>(runs_ * slots_ * words_of(accumulator)), nullptr,
                  second ? totals.means : nullptr, start_word(accumulator, input.value_class)};
        if (is_argument(accumulator)) fold.rows = scratch<int64_t>(runs_ * slots_);
        folds.push_back(fold);
        joined.push_back({fold, input.value_class, total<uint64_t>(totals.folds[a]),
                          fold.rows ? total<int64_t>(totals.rows[a]) : nullptr});
      }
      made.num_folds = static_cast<int>(folds.size()) - made.first_fold;
      if (!second && totals.missing >= 0) {
        made.missing = scratch<uint32_t>(runs_ * slots_);
        counts.push_back({made.missing, total<uint32_t>(totals.missing)});
      }
      if (made.num_folds == 0 && !made.missing) continue;
      const Column& values = input.values;
      if (values.num_rows() > 0) {
        made.has_values = input.value_class != ValueClass::kNothing;
        if (made.has_values) call_.reads(values.values_buffer());
        made.values = values.values_buffer().data();
        made.offset = values.offset();
        made.type = values.dtype().storage().id();
        if (made.has_values && !values.dtype().is_bool())
          made.width = static_cast<int>(values.dtype().size_bytes());
        if (values.null_count() > 0) {
          call_.reads(values.validity_buffer());
          made.valid = values.validity();
        }
      }
      inputs.push_back(made);
    }
    for (const AccumulatorInput& input : plan_.inputs) all.needs_rows |= input.needs_rows();
    all.inputs = table(inputs);
    all.num_inputs = static_cast<int>(inputs.size());
    all.folds = table(folds);
    all.num_folds = static_cast<int>(folds.size());
    if (slots_ <= kThreads)
      fold_runs<Keys, StatesIn::kRegisters>(keys, all, runs_, stream());
    else if (slots_ <= kMostShared)
      fold_runs<Keys, StatesIn::kShared>(keys, all, runs_, stream());
    else
      fold_runs<Keys, StatesIn::kGlobal>(keys, all, runs_, stream());
    if (!joined.empty()) {
      const dim3 grid(blocks_of(2 * slots_, kThreads), static_cast<unsigned>(joined.size()));
      join_folds_kernel<<<grid, kThreads, 0, stream()>>>(table(joined), slots_, runs_);
    }
    if (!counts.empty()) {
      const dim3 grid(slot_blocks(), static_cast<unsigned>(counts.size()));
      join_counts_kernel<<<grid, kThreads, 0, stream()>>>(table(counts), slots_, runs_);
    }
  }

  void make_means() {
    for (size_t k = 0; k < plan_.inputs.size(); ++k) {
      const AccumulatorInput& input = plan_.inputs[k];
      if (!input.needs_second()) continue;
      InputTotals& totals = totals_of_[k];
      auto* const means = scratch<double>(slots_);
      const auto at =
          std::find(input.accumulators.begin(), input.accumulators.end(), Accumulator::kSum) -
          input.accumulators.begin();
      const int64_t sums = totals.folds[static_cast<size_t>(at)];
      const auto* const missing = totals.missing < 0 ? nullptr : total<uint32_t>(totals.missing);
      const auto divide = [&]<class T>(std::type_identity<T>) {
        means_kernel<T><<<slot_blocks(), kThreads, 0, stream()>>>(
            total<T>(sums), total<uint32_t>(sizes_at_), missing, slots_, means);
      };
      if (input.value_class == ValueClass::kFloating)
        divide(std::type_identity<double>{});
      else if (input.value_class == ValueClass::kUnsigned)
        divide(std::type_identity<uint64_t>{});
      else
        divide(std::type_identity<int64_t>{});
      totals.means = means;
    }
  }

  template <class Keys>
  void find_first_rows(const Keys& keys) {
    auto* const first_runs = scratch<uint32_t>(slots_);
    auto* const needed = scratch<uint8_t>(runs_);
    call_.fill(reinterpret_cast<std::byte*>(needed), 0, runs_);
    auto* const first = total<unsigned long long>(first_at_);
    first_runs_kernel<<<slot_blocks(), kThreads, 0, stream()>>>(sizes_, slots_, runs_, first_runs,
                                                                needed, first);
    const auto blocks = static_cast<unsigned>(runs_ * blocks_of(run_rows_, kTile));
    first_rows_kernel<Keys><<<blocks, kThreads, 0, stream()>>>(keys, packed_.num_rows(), run_rows_,
                                                               first_runs, needed, first);
  }

  AggregatePartition fetch(bool wants_first) {
    Buffer here = Buffer::allocate(total_bytes_);
    std::byte* const bytes = here.mutable_data();
    call_.fetch(bytes, total_, total_bytes_);
    const auto part = [&](int64_t at, int64_t size) {
      Buffer made = Buffer::allocate(size);
      std::memcpy(made.mutable_data(), bytes + at, static_cast<size_t>(size));
      return made;
    };
    AggregatePartition partition;
    partition.slots = slots_;
    partition.sizes = part(sizes_at_, 4 * slots_);
    if (wants_first) {
      const auto* const rows = reinterpret_cast<const int64_t*>(bytes + first_at_);
      partition.first_rows.assign(rows, rows + slots_);
    }
    for (size_t k = 0; k < plan_.inputs.size(); ++k) {
      const AccumulatorInput& input = plan_.inputs[k];
      const InputTotals& totals = totals_of_[k];
      AccumulatorStates& states = partition.states.emplace_back();
      for (size_t a = 0; a < input.accumulators.size(); ++a) {
        states.values.push_back(
            part(totals.folds[a], 8 * words_of(input.accumulators[a]) * slots_));
        states.rows.push_back(totals.rows[a] < 0 ? Buffer() : part(totals.rows[a], 8 * slots_));
      }
      if (totals.missing >= 0) states.missing = part(totals.missing, 4 * slots_);
    }
    return partition;
  }

  const AggregatePlan& plan_;
  const NormalizedKeys& packed_;
  const int64_t slots_;
  const int64_t run_rows_;
  const int64_t runs_;
  DeviceCall call_;
  std::vector<Buffer> tables_{};
  std::vector<Buffer> scratch_{};
  std::vector<InputTotals> totals_of_{};
  uint32_t* sizes_ = nullptr;  // of run and slot
  int64_t sizes_at_ = 0;
  int64_t first_at_ = 0;
  int64_t total_bytes_ = 0;
  Buffer totals_{};
  std::byte* total_ = nullptr;
};

}  // namespace

AggregatePartition dense_aggregate(const AggregatePlan& plan, const NormalizedKeys& packed,
                                   int64_t run_rows, bool wants_first) {
  return DenseFold(plan, packed, run_rows).run(wants_first);
}

}  // namespace hr::cuda
