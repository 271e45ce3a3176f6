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

// The rows of an input's streams as fold_rows wants them.
struct InputRows {
  explicit InputRows(const FoldInput& input) : input_(input) {}

  std::vector<Touch> touches() const {
    std::vector<Touch> result;
    if (input_.lane != Lane::kNothing) result.push_back(reads(input_.values));
    if (input_.has_other) result.push_back(reads(input_.other));
    return result;
  }

  FoldRows read(int64_t row, int64_t count, const uint32_t* slots) {
    FoldRows rows{slots, nullptr, nullptr, nullptr, nullptr, row, count};
    if (input_.lane != Lane::kNothing)
      rows.values = read_lane(input_.values, input_.lane, row, count, values_);
    if (input_.has_other)
      rows.other =
          static_cast<const double*>(read_lane(input_.other, Lane::kFloating, row, count, other_));
    if (input_.lane != Lane::kFloating && input_.values.null_count() > 0) {
      read_valid(input_.values, row, count, valid_);
      rows.valid = valid_;
    }
    return rows;
  }

 private:
  const FoldInput& input_;
  uint64_t values_[kBlockRows];
  double other_[kBlockRows];
  uint8_t valid_[kBlockRows];
};

Buffer zeroed_sizes(int64_t slots) {
  return Buffer::allocate_zeroed(4 * slots);
}

class ColumnReader : public FoldReader {
 public:
  ColumnReader(const FoldPlan& plan, const SlotReader& slots) : slots_(slots) {
    inputs_.reserve(plan.inputs.size());
    for (const FoldInput& input : plan.inputs) inputs_.emplace_back(input);
  }

  std::vector<Touch> touches() const override {
    std::vector<Touch> result = slots_.touches;
    for (const InputRows& input : inputs_)
      for (const Touch& touch : input.touches()) result.push_back(touch);
    return result;
  }

  void read(int64_t row, int64_t count, uint32_t* slots) override {
    row_ = row;
    count_ = count;
    slots_.read(row, count, slots);
  }

  FoldRows rows(size_t input, const uint32_t* slots) override {
    return inputs_[input].read(row_, count_, slots);
  }

 private:
  const SlotReader& slots_;
  std::vector<InputRows> inputs_{};
  int64_t row_ = 0;
  int64_t count_ = 0;
};

class RunFolder {
 public:
  RunFolder(const FoldPlan& plan, const FoldSource& source)
      : plan_(plan), source_(source), slots_(source.slots + source.has_others) {
    // Merging costs little beside the rows, and each count fits into 32 bits.
    morsels_ = num_morsels(source.rows);
    runs_ = std::clamp<int64_t>(source.rows / std::max<int64_t>(8 * source.slots, morsel_rows()), 1,
                                64);
    runs_ = std::min(std::max(runs_, source.rows >> 31), std::max<int64_t>(morsels_, 1));
    parts_.resize(static_cast<size_t>(runs_));
  }

  GroupPart run() {
    walk(false);
    merge(false);
    if (plan_.needs_second) {
      GroupPart& total = parts_[0];
      for (size_t k = 0; k < plan_.inputs.size(); ++k) {
        if (!plan_.inputs[k].needs_second()) continue;
        make_means(plan_.inputs[k], slots_, total.sizes.as<uint32_t>(), total.states[k]);
        for (GroupPart& part : parts_) {
          part.states[k].means = total.states[k].means;
          part.states[k].other_means = total.states[k].other_means;
        }
      }
      walk(true);
      merge(true);
    }
    if (source_.has_others) parts_[0].sizes.mutable_as<uint32_t>()[source_.slots] = 0;
    return std::move(parts_[0]);
  }

 private:
  void walk(bool second) {
    parallel_for(runs_, [&](int64_t run) {
      GroupPart& part = parts_[static_cast<size_t>(run)];
      part.slots = slots_;
      part.states.resize(plan_.inputs.size());
      if (!second) part.sizes = zeroed_sizes(slots_);
      for (size_t k = 0; k < plan_.inputs.size(); ++k)
        start_folds(plan_.inputs[k], slots_, second, part.states[k]);
      const std::unique_ptr<FoldReader> reader = source_.reader();
      const std::vector<Touch> touches = reader->touches();
      const int64_t last = source_.begin_of(morsels_ * (run + 1) / runs_);
      for (int64_t begin = source_.begin_of(morsels_ * run / runs_); begin < last;) {
        const int64_t end = std::min((begin / morsel_rows() + 1) * morsel_rows(), last);
        const Pin pin(ranges_of(touches, begin, end));
        for (; begin < end; begin += kBlockRows)
          fold_block(*reader, begin, std::min(kBlockRows, end - begin), second, part);
        begin = end;
      }
    });
  }

  void fold_block(FoldReader& reader, int64_t row, int64_t count, bool second, GroupPart& part) {
    uint32_t slots[kBlockRows];
    reader.read(row, count, slots);
    std::vector<const double*> values;
    std::vector<double*> sums;
    for (size_t k = 0; k < plan_.inputs.size(); ++k) {
      const FoldInput& input = plan_.inputs[k];
      if (second && !input.needs_second()) continue;
      const FoldRows rows = reader.rows(k, slots);
      const auto* x = static_cast<const double*>(rows.values);
      if (!second && is_sum(input) && all_finite(x, count)) {
        values.push_back(x);
        sums.push_back(part.states[k].values[0].mutable_as<double>());
        continue;
      }
      fold_rows(input, slots_, second, rows, part.states[k]);
    }
    if (!second) fold_sums(slots, count, part.sizes.mutable_as<uint32_t>(), values, sums);
  }

  // In the first walk a sum of floats and nothing else.
  static bool is_sum(const FoldInput& input) {
    return input.lane == Lane::kFloating && !input.has_other && !input.folds.empty() &&
           input.folds[0] == Fold::kSum &&
           std::all_of(input.folds.begin() + 1, input.folds.end(), is_second);
  }

  // The states of all runs into those of the first, in order.
  void merge(bool second) {
    if (runs_ == 1) return;
    GroupPart& total = parts_[0];
    for (size_t k = 0; k < plan_.inputs.size() && !second; ++k)
      if (std::any_of(parts_.begin(), parts_.end(),
                      [&](const GroupPart& part) { return bool{part.states[k].missing}; }) &&
          !total.states[k].missing)
        total.states[k].missing = zeroed_sizes(slots_);
    constexpr int64_t kPiece = 4096;
    auto* sizes = total.sizes.mutable_as<uint32_t>();
    parallel_for(divide_up(slots_, kPiece), [&](int64_t piece) {
      const int64_t begin = piece * kPiece, end = std::min(begin + kPiece, slots_);
      for (size_t run = 1; run < parts_.size(); ++run) {
        const GroupPart& part = parts_[run];
        const auto* more = part.sizes.as<uint32_t>();
        if (!second)
          for (int64_t slot = begin; slot < end; ++slot) sizes[slot] += more[slot];
        for (size_t k = 0; k < plan_.inputs.size(); ++k)
          merge_folds(plan_.inputs[k], second, begin, end, total.states[k], part.states[k]);
      }
    });
  }

  const FoldPlan& plan_;
  const FoldSource& source_;
  int64_t slots_;  // with that of others
  int64_t morsels_ = 0;
  int64_t runs_ = 1;
  std::vector<GroupPart> parts_{};
};

}  // namespace

GroupPart fold_runs(const FoldPlan& plan, const FoldSource& source) {
  return RunFolder(plan, source).run();
}

GroupPart fold_runs(const FoldPlan& plan, int64_t rows, int64_t slots, const SlotReader& reader) {
  FoldSource source;
  source.rows = rows;
  source.slots = slots;
  source.begin_of = [rows](int64_t morsel) { return std::min(morsel * morsel_rows(), rows); };
  source.reader = [&] { return std::make_unique<ColumnReader>(plan, reader); };
  return fold_runs(plan, source);
}

std::vector<int64_t> first_rows(int64_t rows, const SlotReader& reader, const GroupPart& part) {
  std::vector<int64_t> first(static_cast<size_t>(part.slots), -1);
  const auto* sizes = part.sizes.as<uint32_t>();
  int64_t open = std::count_if(sizes, sizes + part.slots, [](uint32_t size) { return size > 0; });
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
