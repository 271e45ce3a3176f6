// SPDX-License-Identifier: Apache-2.0
// What steps are thought to yield and to take.
#pragma once
#include "headrace/plan/execute/physical_plan.h"
#include "headrace/plan/graph/cost_model.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace hr {

/// Estimates for the steps of one plan, before it runs. Call with the plan's mutex held.
class Estimates {
 public:
  /// `may_sample`: look at rows of what is there, which takes 60 us a column, more from the disk.
  explicit Estimates(bool may_sample) : may_sample_(may_sample) {}

  /// Rows of a value: known ones, else guessed from what it is made of; a condition is thought to
  /// hold in a third of them.
  int64_t rows(const NodePtr& node);

  /// Of a value, computed or not; kUnknown if it cannot be estimated.
  int64_t bytes(const NodePtr& node);
  /// Those of the rows that a pass works on at the same time; 0 if unknown.
  int64_t bytes_in_hand(const NodePtr& node);

  /// Of columns with the same rows: by a sample of what they are made of, where that is there.
  std::optional<NdvEstimate> keys(const std::vector<NodePtr>& nodes);

  Explanation::Guess of(const PlanStep& step);
  StepCost cost(const PlanStep& step);

 private:
  int64_t guess(const Node::Fields& fields);
  std::optional<NdvEstimate> sampled(const std::vector<NodePtr>& columns);

  bool may_sample_;
  int depth_ = 0;
  std::unordered_map<const Node*, int64_t> known_{};
  std::map<std::vector<const Node*>, NdvEstimate> samples_{};
};

/// Of columns with the same rows: how many rows there may be, and what is known of them as keys.
/// kUnknown and nothing where that cannot be told before anything runs.
struct KeyEstimate {
  int64_t rows = kUnknown;
  std::optional<NdvEstimate> keys{};
};

/// Reads 4096 rows of what the columns are made of, as estimate_ndv does.
HR_API KeyEstimate estimate_keys(const std::vector<NodePtr>& columns);

}  // namespace hr
