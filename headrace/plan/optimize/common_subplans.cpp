// SPDX-License-Identifier: Apache-2.0
// Nodes of a plan that have the same value.
#include "headrace/plan/optimize/common_subplans.h"

#include "headrace/plan/graph/fingerprint.h"
#include "headrace/plan/graph/node_fields.h"

#include <string>

namespace hr {

std::unordered_map<const Node*, NodePtr> merge_equal_nodes(std::span<const NodePtr> order) {
  std::unordered_map<const Node*, NodePtr> same;
  std::unordered_map<std::string, NodePtr> known;
  for (const NodePtr& node : order) {
    Node::Fields& fields = node->fields();
    for (NodePtr& input : fields.inputs)
      if (const auto found = same.find(input.get()); found != same.end()) input = found->second;
    std::string key = equality_key(fields);
    if (key.empty()) continue;
    const auto [place, is_new] = known.try_emplace(std::move(key), node);
    if (!is_new) same.emplace(node.get(), place->second);
  }
  return same;
}

}  // namespace hr
