// SPDX-License-Identifier: Apache-2.0
// Partials of successive blocks, for those who begin in the midst of a column.
#pragma once
#include "headrace/algo/reduce/reduce.h"

#include <cstdint>
#include <vector>

namespace hr {

/// Merges the partials of some successive blocks as far as the tree over all blocks of a column
/// does without those before them. That tree is `PartialTree`'s, also where it has one tree a
/// morsel, of 2^k blocks, and one over these: runs that follow each other from block 0 on give its
/// total.
class HR_API PartialRun {
 public:
  PartialRun(const Reducer& reducer, uint64_t first_block)
      : reducer_(&reducer), next_(first_block) {}

  void push(const ReducePartial& partial) { push({0, partial}); }

  /// The next blocks.
  void push(const PartialRun& run) {
    for (const Part& part : run.parts_) push(part);
  }

  /// Of a run from block 0 on.
  ReducePartial total() const;

 private:
  struct Part {
    int level;  // of 2^level blocks
    ReducePartial partial;
  };

  void push(Part part);

  const Reducer* reducer_;
  uint64_t next_;
  std::vector<Part> parts_{};
};

}  // namespace hr
