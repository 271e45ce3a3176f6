// SPDX-License-Identifier: Apache-2.0
// A plan made again over the same sources, without planning it again.
#pragma once
#include "headrace/plan/graph/node.h"

#include <span>
#include <vector>

namespace hr {

/// Nodes with the operators, inputs and rows of `nodes` whose values are apart from theirs: running
/// the copy leaves nothing with the original. Nodes that have their value and those in `shared` are
/// inputs of both.
HR_API std::vector<NodePtr> copy_plan(std::span<const NodePtr> nodes,
                                      std::span<const NodePtr> shared);

/// The inputs that a run of `nodes` never reads, as those of columns of joins that are not wanted:
/// copies of a plan may share them.
HR_API std::vector<NodePtr> unread_inputs(std::span<const NodePtr> nodes);

}  // namespace hr
