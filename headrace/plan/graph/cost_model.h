// SPDX-License-Identifier: Apache-2.0
// What operators are thought to yield and to take, before they run.
#pragma once
#include "headrace/algo/keys/ndv_estimate.h"
#include "headrace/plan/eval/value.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace hr {

class Node;
using NodePtr = std::shared_ptr<Node>;

/// What an operator takes for each row of its longest input, in addition to reading its inputs and
/// writing its result. docs/design/plan.md has the measurements behind the figures.
struct Cost {
  double nanoseconds =
      0;             ///< of processor time, of a source for each column; 0: of a simple operation
  double bytes = 0;  ///< of memory while it runs
  int64_t source_rows = 0;  ///< that a table without inputs reads
};

/// What is thought of the inputs of an operator that did not run yet.
class HR_API InputEstimates {
 public:
  virtual ~InputEstimates() = default;

  virtual int64_t size() const = 0;
  /// kUnknown if it cannot be estimated.
  virtual int64_t rows(int64_t place) const = 0;
  virtual Dtype dtype(int64_t place) const = 0;
  /// Of an input that only this run makes, if it needs it as a column; 0 of others.
  virtual int64_t unmade_bytes(int64_t place) const = 0;
  /// Of inputs with the same rows as keys; none if unknown.
  virtual std::optional<NdvEstimate> keys(std::span<const int64_t> places) const = 0;
};

/// What a run takes in addition to reading its inputs and writing its result.
struct OperatorCost {
  double nanoseconds = 0;         ///< of processor time of all threads
  double serial_nanoseconds = 0;  ///< ns of one thread while the others wait
  double bytes = 0;               ///< less than 0 where the result shares memory of the inputs
};

/// The estimate for a step; kUnknown if there is none.
struct StepCost {
  int64_t nanoseconds = kUnknown;
  int64_t memory_bytes = kUnknown;  ///< the most that it holds at once in addition to its inputs
};

/// One a step that `force` would take.
HR_API std::vector<StepCost> predicted_costs(std::span<const NodePtr> nodes);

}  // namespace hr
