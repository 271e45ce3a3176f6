// SPDX-License-Identifier: Apache-2.0
// A reduction of rows that come piece by piece.
#pragma once
#include "headrace/algo/reduce/partial_run.h"

#include <cstdint>
#include <vector>

namespace hr {

/// What a reduction knows of the rows so far: as many partials as their number has binary digits.
/// However the rows are cut, the result has the bits of `reduce` of all of them.
class HR_API ReduceState {
 public:
  ReduceState(Aggregate reduction, Dtype dtype, ReduceOptions options);
  ReduceState(const ReduceState&) = delete;
  ReduceState& operator=(const ReduceState&) = delete;

  /// The next rows: a multiple of 1024, for the bits of all rows together. Throws
  /// TypeMismatchError for another dtype.
  void push(const Column& rows);

  /// The rows of another state, as if they came next. For the bits of all rows together, this one
  /// needs a multiple of as many rows as the other one has, rounded up to a power of two.
  void merge(const ReduceState& later);

  /// Of all rows, and of `rest` behind them.
  Scalar total(const Column& rest) const;

  int64_t rows() const { return rows_; }

  /// For a file: what has been folded.
  const std::vector<PartialRun::Part>& parts() const { return run_.parts(); }
  /// The way back. Throws InvalidArgumentError for parts that no rows leave.
  void restore(int64_t rows, std::vector<PartialRun::Part> parts);

 private:
  uint64_t blocks() const;
  PartialRun run_of(const Column& rows) const;

  Reducer reducer_;
  Dtype dtype_;
  PartialRun run_;
  int64_t rows_ = 0;
};

}  // namespace hr
