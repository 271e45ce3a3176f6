// SPDX-License-Identifier: Apache-2.0
// Blocks of successive pieces, merged by the numbers that they have in the whole.
#include "headrace/algo/reduce/reduce_state.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <algorithm>

namespace hr {

ReduceState::ReduceState(Aggregate reduction, Dtype dtype, ReduceOptions options)
    : reducer_(reduction, dtype, options), dtype_(dtype), run_(reducer_, 0) {
  aggregate_dtype(reduction, dtype, AggregateForm::kColumn);
}

uint64_t ReduceState::blocks() const {
  uint64_t blocks = 0;
  for (const PartialRun::Part& part : run_.parts()) blocks += uint64_t{1} << part.level;
  return blocks;
}

PartialRun ReduceState::run_of(const Column& rows) const {
  if (rows.dtype() != dtype_)
    throw_error<TypeMismatchError>("incremental", "rows of another dtype",
                                   {{"dtype", rows.dtype().name()}, {"expected", dtype_.name()}},
                                   "use astype first");
  const uint64_t first = blocks();
  const int64_t morsels = num_morsels(rows.num_rows());
  std::vector<PartialRun> runs;
  for (int64_t k = 0; k < morsels; ++k)
    runs.emplace_back(
        reducer_, first + static_cast<uint64_t>(morsel_at(k, rows.num_rows()).begin / kBlockRows));
  const std::vector<BufferAccess> accesses{reads(rows)};
  parallel_for(morsels, [&](int64_t k) {
    const auto [index, begin, end] = morsel_at(k, rows.num_rows());
    const Pin pin(ranges_of(accesses, begin, end));
    for (int64_t row = begin; row < end; row += kBlockRows)
      runs[static_cast<size_t>(k)].push(
          column_block(reducer_, rows, row, std::min(kBlockRows, end - row), rows_ + row));
  });
  PartialRun made(reducer_, first);
  for (const PartialRun& run : runs) made.push(run);
  return made;
}

void ReduceState::push(const Column& rows) {
  run_.push(run_of(rows));
  rows_ += rows.num_rows();
}

void ReduceState::merge(const ReduceState& later) {
  for (PartialRun::Part part : later.parts()) {
    if (part.partial.index >= 0) part.partial.index += rows_;
    run_.push(part);
  }
  rows_ += later.rows_;
}

Scalar ReduceState::total(const Column& rest) const {
  PartialRun all = run_;
  all.push(run_of(rest));
  return reducer_.finish(all.total());
}

void ReduceState::restore(int64_t rows, std::vector<PartialRun::Part> parts) {
  constexpr int kMostLevels = 53;
  constexpr size_t kMostParts = 1 << 16;
  uint64_t blocks = 0;
  bool fits = rows >= 0 && parts.size() <= kMostParts;
  for (const PartialRun::Part& part : parts) {
    fits = fits && part.level >= 0 && part.level <= kMostLevels && part.partial.count >= 0 &&
           part.partial.count <= rows && part.partial.index >= -1 && part.partial.index < rows;
    if (!fits) break;
    blocks += uint64_t{1} << part.level;
  }
  if (!fits || static_cast<uint64_t>(rows) > blocks * static_cast<uint64_t>(kBlockRows))
    throw_error<InvalidArgumentError>(
        "incremental", "these partials are of other rows",
        {{"rows", rows}, {"parts", static_cast<int64_t>(parts.size())}});
  run_ = PartialRun(reducer_, blocks, std::move(parts));
  rows_ = rows;
}

}  // namespace hr
