// SPDX-License-Identifier: Apache-2.0
// What steps are thought to yield and to take.
#pragma once
#include "headrace/plan/costs.h"
#include "headrace/plan/planner.h"

#include <unordered_map>

namespace hr {

/// Guesses for the steps of one plan, before it runs. Call with the plan's mutex held.
class Guesses {
 public:
  /// Rows of a value: known ones, else guessed from what it is made of; a condition is thought to
  /// hold in a third of them.
  int64_t rows(const NodePtr& node);

  Explanation::Guess of(const PlanStep& step);
  StepCost cost(const PlanStep& step);

 private:
  int64_t guess(const Node::Fields& fields);
  int64_t bytes(const NodePtr& node);

  int depth_ = 0;
  std::unordered_map<const Node*, int64_t> known_{};
};

}  // namespace hr
