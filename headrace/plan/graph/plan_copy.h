// SPDX-License-Identifier: Apache-2.0
// A plan made again over the same sources, without planning it again.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <span>
#include <vector>

namespace hr {

/// A plan to be copied: what its copies have of their own, and in which order that is made.
class HR_API PlanTemplate {
 public:
  /// Nodes that have their value and those in `shared` are inputs of all copies, which have none of
  /// what a run of `nodes` never reads, such as unread columns of joins.
  PlanTemplate(std::span<const NodePtr> nodes, std::span<const NodePtr> shared);

  /// Nodes with the operators, inputs and rows of the plan's whose values are apart from theirs:
  /// running the copy leaves nothing with the original.
  std::vector<NodePtr> copy() const;

 private:
  static constexpr int64_t kShared = -1;

  struct Step {
    NodePtr node;
    std::vector<NodePtr> inputs;   // the node's own
    std::vector<int64_t> made_by;  // the steps that make them, or kShared
  };

  std::vector<Step> steps_{};
  std::vector<NodePtr> nodes_;
  std::vector<int64_t> made_by_{};  // of nodes_
};

}  // namespace hr
