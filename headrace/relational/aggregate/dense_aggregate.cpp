// SPDX-License-Identifier: Apache-2.0
// Group-by of few groups: each run of rows has states of its own.
#include "headrace/algo/aggregate/grouped_sum.h"
#include "headrace/base/checked.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"

#include <algorithm>

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
    // Merging costs little compared with the rows, and each count fits into 32 bits.
    morsels_ = divide_up(source.rows, morsel_rows());
    runs_ = std::clamp<int64_t>(source.rows / std::max<int64_t>(8 * source.slots, morsel_rows()), 1,
                                64);
    runs_ = std::min(std::max(runs_, source.rows >> 31), std::max<int64_t>(morsels_, 1));
    partitions_.resize(static_cast<size_t>(runs_));
  }

  AggregatePartition run() {
    walk(false);
    merge(false);
    if (plan_.needs_second) {
      AggregatePartition& total = partitions_[0];
      for (size_t k = 0; k < plan_.inputs.size(); ++k) {
        if (!plan_.inputs[k].needs_second()) continue;
        make_means(plan_.inputs[k], slots_, total.sizes.as<uint32_t>(), total.states[k]);
        for (AggregatePartition& partition : partitions_) {
          partition.states[k].means = total.states[k].means;
          partition.states[k].other_means = total.states[k].other_means;
        }
      }
      walk(true);
      merge(true);
    }
    if (source_.has_others) partitions_[0].sizes.mutable_as<uint32_t>()[source_.slots] = 0;
    return std::move(partitions_[0]);
  }

 private:
  void walk(bool second) {
    parallel_for(runs_, [&](int64_t run) {
      AggregatePartition& partition = partitions_[static_cast<size_t>(run)];
      partition.slots = slots_;
      partition.states.resize(plan_.inputs.size());
      if (!second) partition.sizes = zeroed_sizes(slots_);
      for (size_t k = 0; k < plan_.inputs.size(); ++k)
        start_accumulators(plan_.inputs[k], slots_, second, partition.states[k]);
      const std::unique_ptr<AccumulatorReader> reader = source_.reader();
      const std::vector<BufferAccess> accesses = reader->accesses();
      const int64_t last = source_.begin_of(morsels_ * (run + 1) / runs_);
      for (int64_t begin = source_.begin_of(morsels_ * run / runs_); begin < last;) {
        const int64_t end = std::min((begin / morsel_rows() + 1) * morsel_rows(), last);
        const Pin pin(ranges_of(accesses, begin, end));
        for (; begin < end; begin += kBlockRows)
          accumulate_block(*reader, begin, std::min(kBlockRows, end - begin), second, partition);
        begin = end;
      }
    });
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

  // The states of all runs into those of the first, in order.
  void merge(bool second) {
    if (runs_ == 1) return;
    AggregatePartition& total = partitions_[0];
    for (size_t k = 0; k < plan_.inputs.size() && !second; ++k)
      if (std::any_of(partitions_.begin(), partitions_.end(),
                      [&](const AggregatePartition& partition) {
                        return bool{partition.states[k].missing};
                      }) &&
          !total.states[k].missing)
        total.states[k].missing = zeroed_sizes(slots_);
    constexpr int64_t kPiece = 4096;
    auto* sizes = total.sizes.mutable_as<uint32_t>();
    parallel_for(divide_up(slots_, kPiece), [&](int64_t piece) {
      const int64_t begin = piece * kPiece, end = std::min(begin + kPiece, slots_);
      for (size_t run = 1; run < partitions_.size(); ++run) {
        const AggregatePartition& partition = partitions_[run];
        const auto* more = partition.sizes.as<uint32_t>();
        if (!second)
          for (int64_t slot = begin; slot < end; ++slot) sizes[slot] += more[slot];
        for (size_t k = 0; k < plan_.inputs.size(); ++k)
          merge_accumulators(plan_.inputs[k], second, begin, end, total.states[k],
                             partition.states[k]);
      }
    });
  }

  const AggregatePlan& plan_;
  const AccumulatorSource& source_;
  int64_t slots_;  // with that of others
  int64_t morsels_ = 0;
  int64_t runs_ = 1;
  std::vector<AggregatePartition> partitions_{};
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
