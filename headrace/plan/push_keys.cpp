// SPDX-License-Identifier: Apache-2.0
// Keys that a join wants, told to the table that makes one of its sides.
#include "headrace/plan/push_keys.h"

#include "headrace/plan/node_fields.h"

#include <algorithm>

namespace hr {

namespace {

// The table that a pending part is of; null for others.
NodePtr table_of(const NodePtr& node) {
  if (node->is_ready() || node->kind() != NodeKind::kPart) return nullptr;
  const NodePtr& table = node->fields().inputs[0];
  return table->is_ready() ? nullptr : table;
}

// Whether only `join` reads of the table, and nothing but its parts.
bool serves_only(const NodePtr& table, const NodePtr& join, const NodeUsers& users,
                 const std::unordered_set<const Node*>& roots) {
  if (roots.contains(table.get())) return false;
  for (const Node* part : users.at(table.get())) {
    if (part->kind() != NodeKind::kPart || roots.contains(part)) return false;
    for (const Node* user : users.at(part))
      if (user != join.get()) return false;
  }
  return true;
}

// Whether all columns with the rows of `part` are made by its table when the join runs: one that
// ran before for somebody else has all rows.
bool is_whole(const NodePtr& part, const NodePtr& table, std::span<const NodePtr> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const NodePtr& input) {
    return table_of(input) == table || input->signature().domain != part->signature().domain;
  });
}

}  // namespace

bool push_keys(std::span<const NodePtr> order, const NodeUsers& users,
               const std::unordered_set<const Node*>& roots) {
  bool changed = false;
  for (const NodePtr& join : order) {
    std::vector<NodePtr>& inputs = join->fields().inputs;
    // The tables of both sides as they are now, and what replaces them.
    std::vector<std::pair<NodePtr, NodePtr>> replaced;
    for (const auto& [key, other] : join->fields().partners) {
      const NodePtr part = inputs[static_cast<size_t>(key)];
      const NodePtr& values = inputs[static_cast<size_t>(other)];
      const NodePtr table = table_of(part);
      if (!table || !table->fields().among || table_of(values) == table ||
          !serves_only(table, join, users, roots) || !is_whole(part, table, inputs))
        continue;
      auto found = std::find_if(replaced.begin(), replaced.end(),
                                [&](const auto& each) { return each.first == table; });
      const NodePtr now = found == replaced.end() ? table : found->second;
      // Not both sides by each other: one of them has to be there first.
      if (found == replaced.end() && !replaced.empty()) continue;
      NodePtr made = now->fields().among(now->fields().inputs, part->fields().part, values);
      if (!made) continue;
      made->fields().tag = table->fields().tag;
      if (found == replaced.end())
        replaced.emplace_back(table, std::move(made));
      else
        found->second = std::move(made);
    }
    for (const auto& [table, made] : replaced) {
      changed = true;
      for (NodePtr& input : inputs)
        if (table_of(input) == table) input = part_node(made, input->fields().part);
    }
    join->fields().partners.clear();
  }
  return changed;
}

}  // namespace hr
