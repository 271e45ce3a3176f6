// SPDX-License-Identifier: Apache-2.0
// Group-by of few groups: each run of rows has states of its own.
#include "headrace/algo/aggregate/grouped_sum.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"
#include "headrace/relational/aggregate/dense_aggregate_kernels.h"

#include <algorithm>
#include <span>

namespace hr {

namespace {

// The rows of an input's streams as accumulate_rows wants them.
struct InputRows {
  explicit InputRows(const AccumulatorInput& input) : input_(input) {}

  std::vector<BufferAccess> accesses() const {
    std::vector<BufferAccess> result;
    if (input_.value_class != ValueClass::kNothing) result.push_back(reads(input_.values));
    if (input_.has_other) result.push_back(reads(input_.other));
    return result;
  }

  AccumulatorRows read(int64_t row, int64_t count, const uint32_t* slots) {
    AccumulatorRows rows{slots, nullptr, nullptr, nullptr, nullptr, row, count};
    if (input_.value_class != ValueClass::kNothing)
      rows.values = read_values(input_.values, input_.value_class, row, count, values_);
    if (input_.has_other)
      rows.other = static_cast<const double*>(
          read_values(input_.other, ValueClass::kFloating, row, count, other_));
    if (input_.value_class != ValueClass::kFloating && input_.values.null_count() > 0) {
      read_valid(input_.values, row, count, valid_);
      rows.valid = valid_;
    }
    return rows;
  }

 private:
  const AccumulatorInput& input_;
  uint64_t values_[kBlockRows];
  double other_[kBlockRows];
  uint8_t valid_[kBlockRows];
};

// Morsels of a run. Merging costs little compared with the rows. Rows that come later change no run
// before them: what folds a stream has the same runs.
int64_t run_morsels_of(int64_t slots) {
  return std::max<int64_t>(divide_up(8 * slots, morsel_rows()), 1);
}

Buffer zeroed_sizes(int64_t slots) {
  return Buffer::allocate_zeroed(4 * slots);
}

class ColumnReader : public AccumulatorReader {
 public:
  ColumnReader(const AggregatePlan& plan, const SlotReader& slots) : slots_(slots) {
    inputs_.reserve(plan.inputs.size());
    for (const AccumulatorInput& input : plan.inputs) inputs_.emplace_back(input);
  }

  std::vector<BufferAccess> accesses() const override {
    std::vector<BufferAccess> result = slots_.accesses;
    for (const InputRows& input : inputs_)
      for (const BufferAccess& access : input.accesses()) result.push_back(access);
    return result;
  }

  void read(int64_t row, int64_t count, uint32_t* slots) override {
    row_ = row;
    count_ = count;
    slots_.read(row, count, slots);
  }

  AccumulatorRows rows(size_t input, const uint32_t* slots) override {
    return inputs_[input].read(row_, count_, slots);
  }

 private:
  const SlotReader& slots_;
  std::vector<InputRows> inputs_{};
  int64_t row_ = 0;
  int64_t count_ = 0;
};

class DenseAggregator {
 public:
  DenseAggregator(const AggregatePlan& plan, const AccumulatorSource& source)
      : plan_(plan), source_(source), slots_(source.slots + source.has_others) {
    morsels_ = divide_up(source.rows, morsel_rows());
    run_morsels_ = run_morsels_of(source.slots);
    runs_ = std::max<int64_t>(divide_up(morsels_, run_morsels_), 1);
    partitions_.resize(static_cast<size_t>(std::min(runs_, together())));
  }

  AggregatePartition run() {
    pass(false);
    if (plan_.needs_second) {
      for (size_t k = 0; k < plan_.inputs.size(); ++k) {
        if (!plan_.inputs[k].needs_second()) continue;
        make_means(plan_.inputs[k], slots_, total_.sizes.as<uint32_t>(), total_.states[k]);
        start_accumulators(plan_.inputs[k], slots_, true, total_.states[k]);
      }
      pass(true);
    }
    if (source_.has_others) total_.sizes.mutable_as<uint32_t>()[source_.slots] = 0;
    return std::move(total_);
  }

 private:
  // Runs that have states at the same time.
  static int64_t together() { return std::max<int64_t>(64, 4 * threads()); }

  void pass(bool second) {
    for (int64_t first = 0; first < runs_; first += together()) {
      const auto count = static_cast<size_t>(std::min(together(), runs_ - first));
      parallel_for(static_cast<int64_t>(count), [&](int64_t i) {
        walk(first + i, second, partitions_[static_cast<size_t>(i)]);
      });
      const bool starts = first == 0 && !second;
      if (starts) total_ = std::move(partitions_[0]);
      merge(second, std::span(partitions_).subspan(starts, count - starts));
    }
  }

  void walk(int64_t run, bool second, AggregatePartition& partition) {
    partition = {};
    partition.slots = slots_;
    partition.states.resize(plan_.inputs.size());
    if (!second) partition.sizes = zeroed_sizes(slots_);
    for (size_t k = 0; k < plan_.inputs.size(); ++k) {
      AccumulatorStates& states = partition.states[k];
      start_accumulators(plan_.inputs[k], slots_, second, states);
      if (!second) continue;
      states.means = total_.states[k].means;
      states.other_means = total_.states[k].other_means;
    }
    const std::unique_ptr<AccumulatorReader> reader = source_.reader();
    const std::vector<BufferAccess> accesses = reader->accesses();
    const int64_t last = source_.begin_of(std::min(run_morsels_ * (run + 1), morsels_));
    for (int64_t begin = source_.begin_of(std::min(run_morsels_ * run, morsels_)); begin < last;) {
      const int64_t end = std::min((begin / morsel_rows() + 1) * morsel_rows(), last);
      const Pin pin(ranges_of(accesses, begin, end));
      for (; begin < end; begin += kBlockRows)
        accumulate_block(*reader, begin, std::min(kBlockRows, end - begin), second, partition);
      begin = end;
    }
  }

  void accumulate_block(AccumulatorReader& reader, int64_t row, int64_t count, bool second,
                        AggregatePartition& partition) {
    uint32_t slots[kBlockRows];
    reader.read(row, count, slots);
    std::vector<const double*> values;
    std::vector<double*> sums;
    for (size_t k = 0; k < plan_.inputs.size(); ++k) {
      const AccumulatorInput& input = plan_.inputs[k];
      if (second && !input.needs_second()) continue;
      const AccumulatorRows rows = reader.rows(k, slots);
      const auto* x = static_cast<const double*>(rows.values);
      if (!second && is_sum(input) && all_finite(x, count)) {
        values.push_back(x);
        sums.push_back(partition.states[k].values[0].mutable_as<double>());
        continue;
      }
      accumulate_rows(input, slots_, second, rows, partition.states[k]);
    }
    if (!second) grouped_sum(slots, count, partition.sizes.mutable_as<uint32_t>(), values, sums);
  }

  // In the first walk a sum of floats and nothing else.
  static bool is_sum(const AccumulatorInput& input) {
    return input.value_class == ValueClass::kFloating && !input.has_other &&
           !input.accumulators.empty() && input.accumulators[0] == Accumulator::kSum &&
           std::all_of(input.accumulators.begin() + 1, input.accumulators.end(), is_second);
  }

  // The states of successive runs into those of all before them.
  void merge(bool second, std::span<const AggregatePartition> runs) {
    if (runs.empty()) return;
    for (size_t k = 0; k < plan_.inputs.size() && !second; ++k)
      if (std::any_of(runs.begin(), runs.end(),
                      [&](const AggregatePartition& partition) {
                        return bool{partition.states[k].missing};
                      }) &&
          !total_.states[k].missing)
        total_.states[k].missing = zeroed_sizes(slots_);
    constexpr int64_t kPiece = 4096;
    auto* sizes = total_.sizes.mutable_as<uint32_t>();
    parallel_for(divide_up(slots_, kPiece), [&](int64_t piece) {
      const int64_t begin = piece * kPiece, end = std::min(begin + kPiece, slots_);
      for (const AggregatePartition& partition : runs) {
        if (!second) {
          const auto* more = partition.sizes.as<uint32_t>();
          for (int64_t slot = begin; slot < end; ++slot) sizes[slot] += more[slot];
        }
        for (size_t k = 0; k < plan_.inputs.size(); ++k)
          merge_accumulators(plan_.inputs[k], second, begin, end, total_.states[k],
                             partition.states[k]);
      }
    });
  }

  const AggregatePlan& plan_;
  const AccumulatorSource& source_;
  int64_t slots_;  // with that of others
  int64_t morsels_ = 0;
  int64_t run_morsels_ = 1;
  int64_t runs_ = 1;
  std::vector<AggregatePartition> partitions_{};  // of the runs that are folded now
  AggregatePartition total_{};
};

}  // namespace

AggregatePartition dense_aggregate(const AggregatePlan& plan, const AccumulatorSource& source) {
  return DenseAggregator(plan, source).run();
}

AggregatePartition dense_aggregate(const AggregatePlan& plan, int64_t rows, int64_t slots,
                                   const SlotReader& reader) {
  AccumulatorSource source;
  source.rows = rows;
  source.slots = slots;
  source.begin_of = [rows](int64_t morsel) { return std::min(morsel * morsel_rows(), rows); };
  source.reader = [&] { return std::make_unique<ColumnReader>(plan, reader); };
  return dense_aggregate(plan, source);
}

std::string why_no_dense_kernel(const AggregatePlan& plan) {
  if (!plan.ranked.empty()) return "aggregates of sorted values";
  for (const AccumulatorInput& input : plan.inputs) {
    const Dtype dtype = input.values.dtype();
    if (input.has_other || input.top > 0) return "correlations, nlargest and nsmallest";
    if (input.value_class != ValueClass::kNothing &&
        (dtype.is_category() || (!dtype.is_bool() && !dtype.storage().is_real())))
      return "values of " + std::string(dtype.name());
  }
  return {};
}

int64_t run_rows_of(int64_t slots) {
  return run_morsels_of(slots) * morsel_rows();
}

namespace {

int64_t run_rows_of(const NormalizedKeys& packed) {
  return std::min(hr::run_rows_of(static_cast<int64_t>(packed.domain())), packed.num_rows());
}

}  // namespace

AggregatePartition dense_aggregate_on_device(const AggregatePlan& plan,
                                             const NormalizedKeys& packed, bool wants_first) {
  if constexpr (built_with_cuda)
    return cuda::dense_aggregate(plan, packed, run_rows_of(packed), wants_first);
  throw_error<InternalError>("groupby", "built without CUDA");
}

std::vector<Column> dense_columns_on_device(const AggregatePlan& plan, const NormalizedKeys& packed,
                                            int64_t groups) {
  if constexpr (built_with_cuda)
    return cuda::dense_columns(plan, packed, run_rows_of(packed), groups);
  throw_error<InternalError>("groupby", "built without CUDA");
}

std::vector<int64_t> first_rows(int64_t rows, const SlotReader& reader,
                                const AggregatePartition& partition) {
  std::vector<int64_t> first(static_cast<size_t>(partition.slots), -1);
  const auto* sizes = partition.sizes.as<uint32_t>();
  int64_t open =
      std::count_if(sizes, sizes + partition.slots, [](uint32_t size) { return size > 0; });
  for (int64_t row = 0; row < rows && open > 0; row += kBlockRows) {
    const int64_t count = std::min(kBlockRows, rows - row);
    uint32_t slots[kBlockRows];
    reader.read(row, count, slots);
    for (int64_t i = 0; i < count; ++i) {
      if (first[slots[i]] >= 0 || sizes[slots[i]] == 0) continue;
      first[slots[i]] = row + i;
      --open;
    }
  }
  return first;
}

}  // namespace hr
