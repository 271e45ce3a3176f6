// SPDX-License-Identifier: Apache-2.0
// Group-by of few slots on a CUDA device: blocks of threads fold runs of rows, and the states of
// runs are joined in order then.
#include "headrace/algo/keys/factorize.h"
#include "headrace/relational/aggregate/dense_aggregate_kernels.h"
#include "headrace/relational/aggregate/dense_folds_device.h"
#include "headrace/relational/aggregate/group_outputs_device.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace hr::cuda {

namespace {

using namespace groups;

constexpr int kSlotThreads = 256;
constexpr int64_t kFewestKeys = 8;  // of so few none are left out

/// Writes the slots of rows, and marks those of some row, each where it is asked for.
template <class Keys>
__global__ void slots_kernel(const __grid_constant__ Keys keys, int64_t rows,
                             int32_t* __restrict__ out, uint8_t* marks) {
  const int64_t row = int64_t{blockIdx.x} * kSlotThreads + threadIdx.x;
  if (row >= rows) return;
  const auto slot = static_cast<uint32_t>(keys(row));
  if (out) out[row] = static_cast<int32_t>(slot);
  if (marks && !marks[slot]) marks[slot] = 1;  // most are marked: reading costs less
}

template <class Keys>
__global__ void renumber_kernel(const __grid_constant__ Keys keys, int64_t rows,
                                const int32_t* __restrict__ places, int32_t* out) {
  const int64_t row = int64_t{blockIdx.x} * kSlotThreads + threadIdx.x;
  if (row < rows) out[row] = places[keys(row)];
}

/// The states of runs joined in order by join(first, second), a thread a state of `words` a slot.
template <class T, class Join>
__device__ void join_runs(const T* __restrict__ from, T* __restrict__ to, const Slots& slots,
                          int64_t runs, int words, Join join) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= words * int64_t{slots.count}) return;
  const int64_t step = words * slots.states();
  from += words * slots.place(i / words) + i % words;
  T total = from[0];
  int64_t run = 1;
  constexpr int kRuns = 16;
  for (; run + kRuns <= runs; run += kRuns) {
    T next[kRuns];
#pragma unroll
    for (int k = 0; k < kRuns; ++k) next[k] = from[(run + k) * step];
#pragma unroll
    for (int k = 0; k < kRuns; ++k) total = join(total, next[k]);
  }
  for (; run < runs; ++run) total = join(total, from[run * step]);
  to[i] = total;
}

template <class T>
__device__ void join_fold(Accumulator accumulator, const T* from, T* to, const Slots& slots,
                          int64_t runs) {
  switch (accumulator) {
    case Accumulator::kProduct:
      return join_runs(from, to, slots, runs, 1, [](T a, T b) { return times(a, b); });
    case Accumulator::kMin:
      return join_runs(from, to, slots, runs, 1, [](T a, T b) { return b < a ? b : a; });
    case Accumulator::kMax:
      return join_runs(from, to, slots, runs, 1, [](T a, T b) { return a < b ? b : a; });
    default:
      return join_runs(from, to, slots, runs, 1, [](T a, T b) { return plus(a, b); });
  }
}

template <class T>
__device__ void join_arguments(bool least, const T* values, const int64_t* rows, T* to,
                               int64_t* row_to, const Slots& slots, int64_t runs) {
  const int64_t slot = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (slot >= slots.count) return;
  const int64_t place = slots.place(slot);
  T value = values[place];
  int64_t row = rows[place];
  for (int64_t run = 1; run < runs; ++run) {
    const T other = values[run * slots.states() + place];
    const int64_t at = rows[run * slots.states() + place];
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
__device__ void join_values(const Joined& joined, const Slots& slots, int64_t runs) {
  const Accumulator accumulator = joined.fold.accumulator;
  const auto* const from = reinterpret_cast<const T*>(joined.fold.states);
  auto* const to = reinterpret_cast<T*>(joined.to);
  if (joined.rows_to)
    return join_arguments(accumulator == Accumulator::kArgmin, from, joined.fold.rows, to,
                          joined.rows_to, slots, runs);
  join_fold(accumulator, from, to, slots, runs);
}

__global__ void join_folds_kernel(const Joined* __restrict__ folds, Slots slots, int64_t runs) {
  const Joined joined = folds[blockIdx.y];
  const Accumulator accumulator = joined.fold.accumulator;
  const auto* const numbers = reinterpret_cast<const int64_t*>(joined.fold.states);
  auto* const to = reinterpret_cast<int64_t*>(joined.to);
  if (accumulator == Accumulator::kFirst)
    return join_runs(numbers, to, slots, runs, 1,
                     [](int64_t a, int64_t b) { return a < 0 ? b : a; });
  if (accumulator == Accumulator::kLast)
    return join_runs(numbers, to, slots, runs, 1,
                     [](int64_t a, int64_t b) { return b < 0 ? a : b; });
  if (accumulator == Accumulator::kNonZero)
    return join_runs(numbers, to, slots, runs, 1, [](int64_t a, int64_t b) { return a + b; });
  if (is_pair(accumulator)) {  // twice as many threads
    const auto* const sums = reinterpret_cast<const double*>(joined.fold.states);
    return join_runs(sums, reinterpret_cast<double*>(joined.to), slots, runs, 2,
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

__global__ void join_counts_kernel(const Counts* __restrict__ counts, Slots slots, int64_t runs) {
  const Counts joined = counts[blockIdx.y];
  join_runs(joined.from, joined.to, slots, runs, 1, [](uint32_t a, uint32_t b) { return a + b; });
}

template <class T>
__global__ void means_kernel(const T* sums, const uint32_t* sizes, const uint32_t* missing,
                             Slots slots, double* means) {
  const int64_t slot = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (slot >= slots.count) return;
  const int64_t count = int64_t{sizes[slot]} - (missing ? missing[slot] : 0);
  means[slots.place(slot)] = count == 0
                                 ? std::numeric_limits<double>::quiet_NaN()
                                 : static_cast<double>(sums[slot]) / static_cast<double>(count);
}

/// The first run with rows of each slot, and which runs are one.
__global__ void first_runs_kernel(const uint32_t* __restrict__ sizes, Slots slots, int64_t runs,
                                  uint32_t* __restrict__ first_runs, uint8_t* __restrict__ needed,
                                  unsigned long long* __restrict__ first) {
  const int64_t slot = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (slot >= slots.count) return;
  first[slot] = ~0ull;  // -1: of no row
  int64_t run = 0;
  while (run < runs && sizes[run * slots.states() + slots.place(slot)] == 0) ++run;
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

/// How slots are dealt to blocks: so that a block's states are in shared memory, and the device is
/// full where there are few runs.
Slots split_of(int64_t slots, int64_t runs) {
  // The place of a row in its run has kPlaceBits: run_morsels_of.
  static_assert(8 * kFewKeys <= int64_t{1} << kPlaceBits);
  constexpr int64_t kBlocks = 600;  // each reads the keys of all rows of its run
  int bits = 0;
  while ((slots >> bits) >= kMostShared ||
         ((runs << bits) < kBlocks && (slots >> bits) >= 2 * kThreads))
    ++bits;
  return {static_cast<uint32_t>(slots), bits,
          static_cast<uint32_t>((slots + (int64_t{1} << bits) - 1) >> bits)};
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
        place_(packed.key_fields()[0].column.place()),
        call_("groupby", place_) {}

  AggregatePartition run(bool wants_first) {
    fold(wants_first);
    call_.finish(cudaGetLastError());
    return fetch(wants_first);
  }

  // Aggregates of the slots below `groups`, which all have rows.
  std::vector<Column> columns(int64_t groups) {
    fold(false);
    GroupColumns made(call_, plan_.aggregates, groups, place_);
    for (size_t k = 0; k < plan_.aggregates.size(); ++k) {
      const PlannedAggregate& aggregate = plan_.aggregates[k];
      const uint64_t* states = nullptr;
      const uint32_t* missing = nullptr;
      if (aggregate.input >= 0) {
        const InputTotals& totals = totals_of_[static_cast<size_t>(aggregate.input)];
        if (totals.missing >= 0) missing = total<uint32_t>(totals.missing);
        if (!aggregate.accumulators.empty())
          states = total<uint64_t>(totals.folds[aggregate.accumulators[0]]);
      }
      made.write(k, states, total<uint32_t>(sizes_at_), missing);
    }
    std::vector<Column> columns = made.columns();
    call_.finish(cudaGetLastError());
    return columns;
  }

 private:
  void fold(bool wants_first) {
    read_slots();
    split_ = split_of(slots_, runs_);
    lay_out(wants_first);
    totals_ = call_.scratch(total_bytes_);
    total_ = call_.writes(totals_);
    call_.fill(total_, 0, total_bytes_);  // what lies between them is fetched, too
    pass(false);
    if (plan_.needs_second) {
      make_means();
      pass(true);
    }
    if (wants_first) row_slots_.visit([&](const auto& keys) { find_first_rows(keys); });
  }

  // Where the slots of rows are; those of several columns are written once, since parts of the
  // slots read all of them.
  void read_slots() {
    const int64_t rows = packed_.num_rows();
    const bool is_sparse =
        slots_ > kFewestKeys && std::ranges::any_of(packed_.key_fields(), &KeyField::is_text);
    uint8_t* marks = nullptr;
    if (is_sparse) {
      marks = scratch<uint8_t>(slots_);
      call_.fill(reinterpret_cast<std::byte*>(marks), 0, slots_);
    }
    with_keys(call_, packed_, tables_, [&]<class Keys>(const Keys& keys) {
      int32_t* made = nullptr;
      if constexpr (std::is_same_v<Keys, IntegerKey<int64_t>>)
        row_slots_ = {nullptr, keys.values, keys.least};
      else if constexpr (std::is_same_v<Keys, IntegerKey<int32_t>>)
        row_slots_ = {keys.values, nullptr, keys.least};
      else
        row_slots_ = {made = scratch<int32_t>(rows), nullptr, 0};
      if (made || marks)
        slots_kernel<Keys>
            <<<blocks_of(rows, kSlotThreads), kSlotThreads, 0, stream()>>>(keys, rows, made, marks);
    });
    if (is_sparse) leave_out_others(marks);
  }

  // Numbers the slots that have rows anew, where few of them do. Rows spread over the threads then.
  void leave_out_others(const uint8_t* marks) {
    std::vector<uint8_t> has_rows(static_cast<size_t>(slots_));
    call_.fetch(has_rows.data(), marks, slots_);
    std::vector<int32_t> places(has_rows.size());
    for (size_t slot = 0; slot < has_rows.size(); ++slot) {
      places[slot] = static_cast<int32_t>(used_.size());
      if (has_rows[slot] != 0) used_.push_back(slot);
    }
    if (2 * used_.size() > has_rows.size()) return used_.clear();
    const int64_t rows = packed_.num_rows();
    auto* const out = scratch<int32_t>(rows);
    const int32_t* const to = table(places);
    row_slots_.visit([&]<class Keys>(const Keys& keys) {
      renumber_kernel<Keys>
          <<<blocks_of(rows, kSlotThreads), kSlotThreads, 0, stream()>>>(keys, rows, to, out);
    });
    row_slots_ = {out, nullptr, 0};
    slots_ = static_cast<int64_t>(used_.size());
  }

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

  void pass(bool second) {
    std::vector<Input> inputs;
    std::vector<Fold> folds;
    std::vector<Joined> joined;
    std::vector<Counts> counts;
    Runs all{};
    all.rows = packed_.num_rows();
    all.run_rows = run_rows_;
    all.slots = split_;
    if (!second) {
      all.sizes = sizes_ = scratch<uint32_t>(runs_ * split_.states());
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
        Fold fold{accumulator, scratch<uint64_t>(runs_ * split_.states() * words_of(accumulator)),
                  nullptr, second ? totals.means : nullptr,
                  start_word(accumulator, input.value_class)};
        if (is_argument(accumulator)) fold.rows = scratch<int64_t>(runs_ * split_.states());
        folds.push_back(fold);
        joined.push_back({fold, input.value_class, total<uint64_t>(totals.folds[a]),
                          fold.rows ? total<int64_t>(totals.rows[a]) : nullptr});
      }
      made.num_folds = static_cast<int>(folds.size()) - made.first_fold;
      if (!second && totals.missing >= 0) {
        made.missing = scratch<uint32_t>(runs_ * split_.states());
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
    fold_runs(call_, row_slots_, all, runs_, sums_doubles(inputs, folds));
    if (!joined.empty()) {
      const dim3 grid(blocks_of(2 * slots_, kThreads), static_cast<unsigned>(joined.size()));
      join_folds_kernel<<<grid, kThreads, 0, stream()>>>(table(joined), split_, runs_);
    }
    if (!counts.empty()) {
      const dim3 grid(slot_blocks(), static_cast<unsigned>(counts.size()));
      join_counts_kernel<<<grid, kThreads, 0, stream()>>>(table(counts), split_, runs_);
    }
  }

  static bool sums_doubles(const std::vector<Input>& inputs, const std::vector<Fold>& folds) {
    return std::ranges::all_of(inputs,
                               [](const Input& each) {
                                 return each.has_values && each.type == TypeId::kFloat64;
                               }) &&
           std::ranges::all_of(
               folds, [](const Fold& each) { return each.accumulator == Accumulator::kSum; });
  }

  void make_means() {
    for (size_t k = 0; k < plan_.inputs.size(); ++k) {
      const AccumulatorInput& input = plan_.inputs[k];
      if (!input.needs_second()) continue;
      InputTotals& totals = totals_of_[k];
      auto* const means = scratch<double>(split_.states());
      const auto at =
          std::find(input.accumulators.begin(), input.accumulators.end(), Accumulator::kSum) -
          input.accumulators.begin();
      const int64_t sums = totals.folds[static_cast<size_t>(at)];
      const auto* const missing = totals.missing < 0 ? nullptr : total<uint32_t>(totals.missing);
      const auto divide = [&]<class T>(std::type_identity<T>) {
        means_kernel<T><<<slot_blocks(), kThreads, 0, stream()>>>(
            total<T>(sums), total<uint32_t>(sizes_at_), missing, split_, means);
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
    first_runs_kernel<<<slot_blocks(), kThreads, 0, stream()>>>(sizes_, split_, runs_, first_runs,
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
    if (!used_.empty()) {
      partition.keys = Buffer::allocate(8 * slots_);
      std::ranges::copy(used_, partition.keys.mutable_as<uint64_t>());
    }
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
  int64_t slots_;
  std::vector<uint64_t> used_{};  // keys of the slots, if those without rows are left out
  const int64_t run_rows_;
  const int64_t runs_;
  Slots split_{};
  const Place place_;
  DeviceCall call_;
  RowSlots row_slots_{};
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

std::vector<Column> dense_columns(const AggregatePlan& plan, const NormalizedKeys& packed,
                                  int64_t run_rows, int64_t groups) {
  return DenseFold(plan, packed, run_rows).columns(groups);
}

}  // namespace hr::cuda
