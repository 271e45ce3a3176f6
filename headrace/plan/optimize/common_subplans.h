// SPDX-License-Identifier: Apache-2.0
// Nodes of a plan that have the same value.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace hr {

/// For nodes whose operator does the same with the same inputs as that of an earlier one, that one;
/// who read them reads it from now on. `order`: the nodes of a plan, inputs before users. Call with
/// the plan's mutex held.
std::unordered_map<const Node*, NodePtr> merge_equal_nodes(std::span<const NodePtr> order);

}  // namespace hr
