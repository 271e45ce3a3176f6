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

// An input of the same rows in the place of one that is never read, such as that of an unread
// column of a join: copies need not have it, and no pass has to keep its rows. Else that one.
const NodePtr& stand_in(const Node& node, size_t input,
                        const std::unordered_set<const Node*>& read) {
  const Node::Fields& fields = node.fields();
  const auto is_read = [&](const NodePtr& each) {
    return each->is_ready() || read.contains(each.get());
  };
  const NodePtr& own = fields.inputs[input];
  if (is_read(own) || node.kind() != NodeKind::kTable) return own;
  for (const RowSource& source : fields.table().sources) {
    if (std::ranges::find(source.inputs, static_cast<int64_t>(input)) == source.inputs.end())
      continue;
    for (const int64_t place : source.inputs)
      if (const NodePtr& other = fields.inputs[static_cast<size_t>(place)]; is_read(other))
        return other;
  }
  return own;
}

}  // namespace

PlanTemplate::PlanTemplate(std::span<const NodePtr> nodes, std::span<const NodePtr> shared)
    : nodes_(nodes.begin(), nodes.end()) {
  const std::lock_guard lock(plan_mutex());
  std::unordered_set<const Node*> read;
  const PlanNodes plan(nodes, 0);
  for (const NodePtr& node : plan.order()) read.insert(node.get());
  std::unordered_map<const Node*, int64_t> places;
  for (const NodePtr& node : shared) places.emplace(node.get(), kShared);
  const auto is_known = [&](const NodePtr& node) {
    return node->is_ready() || places.contains(node.get());
  };
  const auto place_of_node = [&](const NodePtr& node) {
    return node->is_ready() ? kShared : places.at(node.get());
  };
  std::vector<NodePtr> stack(nodes_);
  while (!stack.empty()) {
    const NodePtr node = stack.back();
    if (is_known(node)) {
      stack.pop_back();
      continue;
    }
    std::vector<NodePtr> inputs;
    for (size_t i = 0; i < node->fields().inputs.size(); ++i)
      inputs.push_back(stand_in(*node, i, read));
    const size_t before = stack.size();
    for (const NodePtr& input : inputs)
      if (!is_known(input)) stack.push_back(input);
    if (stack.size() > before) continue;
    Step step{.node = node, .inputs = std::move(inputs), .made_by = {}};
    for (const NodePtr& input : step.inputs) step.made_by.push_back(place_of_node(input));
    places.emplace(node.get(), static_cast<int64_t>(steps_.size()));
    steps_.push_back(std::move(step));
    stack.pop_back();
  }
  for (const NodePtr& node : nodes_) made_by_.push_back(place_of_node(node));
}

std::vector<NodePtr> PlanTemplate::copy() const {
  const std::lock_guard lock(plan_mutex());
  std::vector<NodePtr> copies;
  copies.reserve(steps_.size());
  const auto copy_of = [&](int64_t place, const NodePtr& own) {
    return place == kShared ? own : copies[static_cast<size_t>(place)];
  };
  for (const Step& step : steps_) {
    std::vector<NodePtr> made;
    made.reserve(step.inputs.size());
    for (size_t i = 0; i < step.inputs.size(); ++i)
      made.push_back(copy_of(step.made_by[i], step.inputs[i]));
    copies.push_back(copied(step.node, std::move(made)));
  }
  std::vector<NodePtr> made;
  made.reserve(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) made.push_back(copy_of(made_by_[i], nodes_[i]));
  return made;
}

}  // namespace hr
