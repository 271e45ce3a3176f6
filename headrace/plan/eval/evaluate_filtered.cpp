// SPDX-License-Identifier: Apache-2.0
// Reductions over the rows for which a program is true. Each task computes the mask of some rows,
// learns how many rows those before it picked, and reduces the blocks of picked rows that end in
// its own: blocks begin where they would if the rows had been copied together.
#include "headrace/plan/eval/evaluate_filtered.h"

#include "headrace/algo/bits/count_bits.h"
#include "headrace/algo/reduce/partial_run.h"
#include "headrace/base/bits.h"
#include "headrace/exec/ordered_total.h"
#include "headrace/plan/eval/evaluate_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace hr {

namespace {

// Rows of a task: what the mask read of a column is still in the cache for the reductions.
constexpr int64_t kTaskRows = int64_t{1} << 15;

int64_t task_rows(int64_t rows) {
  return std::min(kTaskRows, morsel_rows(rows));
}

/// Some of the picked rows.
struct PickedBlocks {
  int64_t begin;       ///< the row of the word with the first of them
  int64_t skipped;     ///< picked rows of that word that are before it
  int64_t first, end;  ///< blocks
};

class FilteredRun {
 public:
  FilteredRun(const RowFilter& filter, const Program& program, std::span<const Value> inputs);

  std::vector<Value> results();

 private:
  void run(const Morsel& morsel);
  int64_t pick(const Morsel& morsel, std::byte* registers);
  PickedBlocks blocks_ending_in(const Morsel& morsel, int64_t before, int64_t count) const;
  void reduce(const Morsel& morsel, const PickedBlocks& blocks, int64_t picked,
              std::byte* registers);

  const RowFilter& filter_;
  const Program& program_;
  BoundProgram conditions_, values_;
  BlockScratch scratch_;
  std::byte* bits_;  // of the mask
  Column column_;
  Mask mask_;
  OrderedTotal picked_{};
  std::vector<Reducer> reducers_{};              // by output
  std::vector<std::vector<PartialRun>> runs_{};  // by task, by output
};

FilteredRun::FilteredRun(const RowFilter& filter, const Program& program,
                         std::span<const Value> inputs)
    : filter_(filter),
      program_(program),
      conditions_(filter.program, filter.inputs, Shape{filter.rows}),
      values_(program, inputs, Shape{filter.rows}, filter.rows),
      scratch_(threads(), std::max(conditions_.scratch_bytes(), values_.scratch_bytes())),
      bits_(nullptr),
      column_([&] {
        Buffer bits = Buffer::allocate(bitmap_bytes(filter.rows));
        if (filter.rows > 0) bits_ = bits.mutable_data();
        return Column(TypeId::kBool, filter.rows, std::move(bits));
      }()),
      mask_(column_) {
  for (const Program::Output& output : program.outputs())
    reducers_.emplace_back(output.reduction, program.dtype(output.value), output.options);
  const int64_t step = task_rows(filter.rows), tasks = (filter.rows + step - 1) / step;
  runs_.resize(at(tasks));
  parallel_for(tasks, [&](int64_t k) { run(morsel_at(k, filter.rows, step)); });
}

void FilteredRun::run(const Morsel& morsel) {
  OrderedTotal::Turn turn(picked_, morsel.index);
  BlockScratch::Loan loan(scratch_);
  const int64_t count = pick(morsel, loan.data());
  const std::optional<int64_t> before = turn.add(count);
  if (!before) return;
  const PickedBlocks blocks = blocks_ending_in(morsel, *before, count);
  if (blocks.first < blocks.end) reduce(morsel, blocks, *before + count, loan.data());
}

// Computes the mask; gives how many rows it picks.
int64_t FilteredRun::pick(const Morsel& morsel, std::byte* registers) {
  const Pin pin(ranges_of(conditions_.accesses(), morsel.begin, morsel.end));
  EvaluateBlock block = conditions_.block(registers);
  const size_t mask = at(filter_.program.outputs()[0].value);
  int64_t picked = 0;
  for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
    conditions_.run(block, row, std::min(kBlockRows, morsel.end - row));
    uint64_t words[kBlockWords];
    cpu::pack_bits(reinterpret_cast<const uint8_t*>(block.values[mask]), words, block.count);
    const int64_t size = (block.count + 63) / 64;
    if (block.valid[mask])
      for (int64_t i = 0; i < size; ++i) words[i] &= block.valid[mask][i];
    picked += cpu::count_set_bits(reinterpret_cast<const uint8_t*>(words), nullptr, 8 * size);
    std::memcpy(bits_ + row / 8, words, at(bitmap_bytes(block.count)));
  }
  return picked;
}

PickedBlocks FilteredRun::blocks_ending_in(const Morsel& morsel, int64_t before,
                                           int64_t count) const {
  const int64_t picked = before + count;
  const bool is_last = morsel.end == filter_.rows;
  PickedBlocks blocks{morsel.begin, 0, before / kBlockRows,
                      (is_last ? picked + kBlockRows - 1 : picked) / kBlockRows};
  if (blocks.first == blocks.end) return blocks;
  // The masks of all rows before are there once it is known how many rows they pick.
  for (int64_t missing = before % kBlockRows; missing > 0;) {
    blocks.begin -= 64;
    missing -= std::popcount(mask_.word(blocks.begin, 64));
    blocks.skipped = std::max<int64_t>(-missing, 0);
  }
  return blocks;
}

void FilteredRun::reduce(const Morsel& morsel, const PickedBlocks& blocks, int64_t picked,
                         std::byte* registers) {
  const Pin pin(ranges_of(values_.picked_accesses(), blocks.begin, morsel.end));
  std::vector<PartialRun>& runs = runs_[at(morsel.index)];
  for (const Reducer& reducer : reducers_)
    runs.emplace_back(reducer, static_cast<uint64_t>(blocks.first));
  EvaluateBlock block = values_.block(registers);
  MaskCursor cursor(mask_, blocks.begin);
  if (blocks.skipped > 0) cursor.next(blocks.skipped, block.picked);
  for (int64_t b = blocks.first; b < blocks.end; ++b) {
    const int64_t row = b * kBlockRows, count = std::min(kBlockRows, picked - row);
    cursor.next(count, block.picked);
    values_.run(block, row, count);
    for (size_t o = 0; o < runs.size(); ++o) {
      const size_t value = at(program_.outputs()[o].value);
      runs[o].push(reducers_[o].block(block.values[value], block.valid[value], count, row));
    }
  }
}

std::vector<Value> FilteredRun::results() {
  std::vector<Value> results;
  for (size_t o = 0; o < reducers_.size(); ++o) {
    PartialRun all(reducers_[o], 0);
    for (const std::vector<PartialRun>& runs : runs_)
      if (!runs.empty()) all.push(runs[o]);
    results.emplace_back(reducers_[o].finish(all.total()));
  }
  return results;
}

}  // namespace

bool takes_filter(const Program& program, std::span<const Value> inputs, int64_t rows) {
  const auto is_read = [&](const Value& value) {
    if (const auto* column = std::get_if<Column>(&value)) return column->num_rows() == rows;
    if (std::holds_alternative<Scalar>(value)) return true;
    const auto& tensor = std::get<Tensor>(value);
    return tensor.num_elements() == 1 ||
           (signature_of(value).rows() == rows && tensor.is_contiguous());
  };
  // Blocks of morsels of other sizes are not those of the whole column.
  return std::has_single_bit(static_cast<uint64_t>(morsel_rows())) && morsel_rows() >= kBlockRows &&
         std::ranges::all_of(inputs, is_read) &&
         std::ranges::all_of(program.outputs(), [](const Program::Output& output) {
           return output.kind == Program::OutputKind::kReduction;
         });
}

std::vector<Value> evaluate_filtered(const RowFilter& filter, const Program& program,
                                     std::span<const Value> inputs) {
  return FilteredRun(filter, program, inputs).results();
}

}  // namespace hr
