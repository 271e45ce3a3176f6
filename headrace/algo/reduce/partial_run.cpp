// SPDX-License-Identifier: Apache-2.0
// Partials of successive blocks, merged by the binary digits of the blocks' numbers.
#include "headrace/algo/reduce/partial_run.h"

namespace hr {

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
