// SPDX-License-Identifier: Apache-2.0
// Partials of successive blocks, for those who begin in the midst of a column.
#pragma once
#include "headrace/algo/reduce/reduce.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace hr {

/// The partial of rows [row, row + count) of a column, at most 1024; `number`: of the first one.
HR_API ReducePartial column_block(const Reducer& reducer, const Column& column, int64_t row,
                                  int64_t count, int64_t number);

/// Merges the partials of some successive blocks as far as the tree over all blocks of a column
/// does without those before them. That tree is `PartialTree`'s, also where it has one tree a
/// morsel, of 2^k blocks, and one over these: runs that follow each other from block 0 on give its
/// total.
class HR_API PartialRun {
 public:
  struct Part {
    int level;  ///< of 2^level blocks
    ReducePartial partial;
  };

  PartialRun(const Reducer& reducer, uint64_t first_block)
      : reducer_(&reducer), next_(first_block) {}
  /// A run that has parts already; `next_block` follows them.
  PartialRun(const Reducer& reducer, uint64_t next_block, std::vector<Part> parts)
      : reducer_(&reducer), next_(next_block), parts_(std::move(parts)) {}

  void push(const ReducePartial& partial) { push(Part{0, partial}); }

  /// The next blocks.
  void push(const PartialRun& run) {
    for (const Part& part : run.parts_) push(part);
  }

  /// The next 2^level blocks.
  void push(Part part);

  const std::vector<Part>& parts() const { return parts_; }

  /// Of a run from block 0 on.
  ReducePartial total() const;

 private:
  const Reducer* reducer_;
  uint64_t next_;
  std::vector<Part> parts_{};
};

}  // namespace hr
