// SPDX-License-Identifier: Apache-2.0
// A plan made again over the same sources.
#include "headrace/plan/graph/plan_copy.h"

#include "headrace/memory/log/tag_stack.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/plan_nodes.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace hr {

namespace {

// What plans found out about a node, and its value, are its own.
NodePtr copied(const NodePtr& node, std::vector<NodePtr> inputs) {
  const Node::Fields& own = node->fields();
  auto fields = std::make_unique<Node::Fields>(own);
  fields->inputs = std::move(inputs);
  fields->plan = 0;
  fields->origin.reset();
  fields->optimized = nullptr;
  fields->is_rewritten = fields->owns_inputs = false;
  if (own.of_table) {
    fields->of_table = std::make_shared<TableFields>(*own.of_table);
    TableFields& table = *fields->of_table;
    table.state = own.table().new_state();
    table.was_filtered = false;
    table.filtered_to.reset();
  }
  fields->tag = operator_tag(own.op->name());
  return std::make_shared<Node>(std::move(fields));
}

}  // namespace

std::vector<NodePtr> copy_plan(std::span<const NodePtr> nodes, std::span<const NodePtr> shared) {
  const std::lock_guard lock(plan_mutex());
  std::unordered_map<const Node*, NodePtr> copies;
  for (const NodePtr& node : shared) copies.emplace(node.get(), node);
  const auto is_known = [&](const NodePtr& node) {
    return node->is_ready() || copies.contains(node.get());
  };
  const auto copy_of = [&](const NodePtr& node) {
    return node->is_ready() ? node : copies.at(node.get());
  };
  std::vector<NodePtr> stack(nodes.begin(), nodes.end());
  while (!stack.empty()) {
    const NodePtr node = stack.back();
    if (is_known(node)) {
      stack.pop_back();
      continue;
    }
    const std::vector<NodePtr>& inputs = node->fields().inputs;
    const size_t before = stack.size();
    for (const NodePtr& input : inputs)
      if (!is_known(input)) stack.push_back(input);
    if (stack.size() > before) continue;
    std::vector<NodePtr> made;
    made.reserve(inputs.size());
    for (const NodePtr& input : inputs) made.push_back(copy_of(input));
    copies.emplace(node.get(), copied(node, std::move(made)));
    stack.pop_back();
  }
  std::vector<NodePtr> made;
  made.reserve(nodes.size());
  for (const NodePtr& node : nodes) made.push_back(copy_of(node));
  return made;
}

std::vector<NodePtr> unread_inputs(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  const PlanNodes plan(nodes, 0);
  std::unordered_set<const Node*> seen;
  for (const NodePtr& node : plan.order()) seen.insert(node.get());
  std::vector<NodePtr> made;
  for (const NodePtr& node : plan.order())
    for (const NodePtr& input : node->fields().inputs)
      if (!input->is_ready() && seen.insert(input.get()).second) made.push_back(input);
  return made;
}

}  // namespace hr
