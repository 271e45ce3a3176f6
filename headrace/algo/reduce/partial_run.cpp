// SPDX-License-Identifier: Apache-2.0
// Partials of successive blocks, merged by the binary digits of the blocks' numbers.
#include "headrace/algo/reduce/partial_run.h"

#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"

#include <algorithm>

namespace hr {

ReducePartial column_block(const Reducer& reducer, const Column& column, int64_t row, int64_t count,
                           int64_t number) {
  uint64_t valid[kBlockRows / 64];
  if (const uint8_t* bitmap = column.validity())
    for (int64_t i = 0; i < count; i += 64)
      valid[i / 64] =
          load_bits(bitmap, column.offset() + row + i, std::min<int64_t>(64, count - i));
  const uint64_t* mask = column.validity() ? valid : nullptr;
  if (!column.dtype().is_bool())
    return reducer.block(
        column.values_buffer().data() + (column.offset() + row) * column.dtype().size_bytes(), mask,
        count, number);
  uint8_t bytes[kBlockRows];
  for (int64_t i = 0; i < count; ++i) bytes[i] = get_bit(column.bits(), column.offset() + row + i);
  return reducer.block(bytes, mask, count, number);
}

void PartialRun::push(Part part) {
  const uint64_t number = next_ >> part.level;
  next_ += uint64_t{1} << part.level;
  for (uint64_t bits = number; bits & 1; bits >>= 1) {
    // The left one has blocks before the run.
    if (parts_.empty() || parts_.back().level != part.level) break;
    part.partial = reducer_->merge(parts_.back().partial, part.partial);
    ++part.level;
    parts_.pop_back();
  }
  parts_.push_back(part);
}

ReducePartial PartialRun::total() const {
  if (parts_.empty()) return {};
  ReducePartial sum = parts_.back().partial;
  for (size_t i = parts_.size() - 1; i-- > 0;) sum = reducer_->merge(parts_[i].partial, sum);
  return sum;
}

}  // namespace hr
