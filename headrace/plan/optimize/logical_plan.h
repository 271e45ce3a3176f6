// SPDX-License-Identifier: Apache-2.0
// The plan that is optimized: a copy of the nodes above some roots. The user's nodes stay as they
// are.
#pragma once
#include "headrace/plan/graph/plan_nodes.h"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace hr {

class LogicalPlan {
 public:
  /// A copy of what has to run for `roots`. Call with the plan's mutex held.
  explicit LogicalPlan(std::span<const NodePtr> roots);
  ~LogicalPlan();
  LogicalPlan(const LogicalPlan&) = delete;
  LogicalPlan& operator=(const LogicalPlan&) = delete;

  const PlanNodes& nodes() const { return nodes_; }

  /// Puts the nodes in order again, after a pass made new ones.
  void refresh();

  /// Whether moving filters and keys may look at more nodes: all that a plan of some hundred nodes
  /// asks for, and some dozens of walks over a larger one.
  bool has_visits_left() const { return planning_visits() < last_visit_; }

  /// Runs these nodes in place of a root and of those merged with it; gives these.
  std::vector<NodePtr> replace_root(const NodePtr& root, const std::vector<NodePtr>& nodes);

  /// Equal nodes become one.
  void merge_equal();

  /// Roots that have the value of another node, by that node.
  const std::unordered_map<const Node*, std::vector<NodePtr>>& merged() const { return merged_; }

  /// Notes at the user's nodes how those that this plan rewrote, but does not evaluate, are made: a
  /// later plan goes on from there and shares what this one makes.
  void keep_rewritten() const;

  /// The nodes and what they read, one per line.
  std::string text() const;

 private:
  uint64_t id_;
  uint64_t outer_;  // the plan during which this one is made
  std::vector<NodePtr> roots_{};
  std::vector<NodePtr> copies_{};
  int64_t last_visit_ = 0;
  PlanNodes nodes_{};
  std::unordered_map<const Node*, std::vector<NodePtr>> merged_{};
};

}  // namespace hr
