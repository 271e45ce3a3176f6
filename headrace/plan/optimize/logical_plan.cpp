// SPDX-License-Identifier: Apache-2.0
// The plan that is optimized.
#include "headrace/plan/optimize/logical_plan.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/common_subplans.h"

#include <algorithm>
#include <functional>

namespace hr {

namespace {

constexpr int64_t kFirstVisits = 200'000, kVisitsOfNode = 16;

uint64_t next_plan() {
  static uint64_t last = 0;  // under the plan's mutex
  return ++last;
}

bool owns_inputs(const Node::Fields& fields) {
  return std::all_of(fields.inputs.begin(), fields.inputs.end(), [](const NodePtr& input) {
    return input->is_ready() && input.use_count() == 1;
  });
}

}  // namespace

LogicalPlan::LogicalPlan(std::span<const NodePtr> roots)
    : id_(next_plan()), outer_(set_current_plan(id_)), roots_(roots.begin(), roots.end()) {
  refresh();
  const auto size = static_cast<int64_t>(nodes_.order().size());
  last_visit_ = planning_visits() + kFirstVisits + kVisitsOfNode * size;
}

LogicalPlan::~LogicalPlan() {
  set_current_plan(outer_);
}

// Nodes that are not this plan's own are copied; what no wanted column of a table needs stays.
void LogicalPlan::refresh() {
  nodes_ = PlanNodes(roots_, id_);
  std::unordered_map<const Node*, NodePtr> copies;
  std::function<NodePtr(const NodePtr&)> own;
  const auto copy_of = [&](const NodePtr& node) {
    const Node::Fields& form = PlanNodes::form_of(*node, id_);
    const bool owns = owns_inputs(form);
    auto copy = std::make_unique<Node::Fields>(form);
    copy->plan = id_;
    copy->origin = node;
    copy->tag = node->fields().tag;
    copy->optimized = nullptr;
    copy->is_rewritten = false;
    copy->owns_inputs = owns;
    for (NodePtr& input : copy->inputs) input = own(input);
    copies_.push_back(std::make_shared<Node>(std::move(copy)));
    copies.emplace(node.get(), copies_.back());
    return copies_.back();
  };
  // Columns that nobody wants now are of the same copied tables and masks as the others: a pass
  // that rewrites some has to rewrite them too.
  const auto is_beside_copies = [&](const NodePtr& node) {
    if (node->is_ready() || node->fields().plan == id_) return false;
    const auto& inputs = PlanNodes::form_of(*node, id_).inputs;
    return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](const NodePtr& input) {
      const NodePtr known = PlanNodes::standing_for(input, id_);
      return known->is_ready() || copies.contains(known.get());
    });
  };
  own = [&](const NodePtr& node) {
    const NodePtr known = PlanNodes::standing_for(node, id_);
    const auto found = copies.find(known.get());
    if (found != copies.end()) return found->second;
    return is_beside_copies(known) ? copy_of(known) : known;
  };
  for (const NodePtr& node : nodes_.order()) {
    if (copies.contains(node.get())) continue;
    if (node->fields().plan != id_)
      copy_of(node);
    else
      for (NodePtr& input : node->fields().inputs) input = own(input);
  }
  for (NodePtr& root : roots_) root = own(root);
  if (!copies.empty()) nodes_ = PlanNodes(roots_, id_);
}

bool LogicalPlan::merge_equal() {
  const auto same = merge_equal_nodes(nodes_.order());
  for (NodePtr& root : roots_) {
    const auto found = same.find(root.get());
    if (found == same.end()) continue;
    std::vector<NodePtr> ended = std::move(merged_[root.get()]);
    ended.push_back(root);
    std::vector<NodePtr>& all = merged_[found->second.get()];
    all.insert(all.end(), ended.begin(), ended.end());
    merged_.erase(root.get());
    root = found->second;
  }
  if (!same.empty()) refresh();
  return !same.empty();
}

void LogicalPlan::keep_rewritten() const {
  for (const NodePtr& node : copies_) {
    const Node::Fields& fields = node->fields();
    const NodePtr origin = fields.origin.lock();
    if (!origin) continue;
    if (fields.is_rewritten) origin->fields().optimized = node;
    if (!fields.was_filtered) continue;
    origin->fields().was_filtered = true;
    origin->fields().filtered_to = fields.filtered_to;
    origin->fields().filtered_by = fields.filtered_by;
  }
}

std::string LogicalPlan::text() const {
  const auto label = [](const Node& node) {
    const std::string detail = node.detail();
    return node.op() + (detail.empty() ? "" : " [" + detail + "]");
  };
  std::string text;
  for (size_t i = 0; i < nodes_.order().size(); ++i) {
    const Node& node = *nodes_.order()[i];
    text += "  " + std::to_string(i + 1) + " " + label(node);
    const char* before = " of ";
    nodes_.for_each_input(node, [&](const NodePtr& input) {
      const size_t place = nodes_.place(input.get());
      text += before;
      text += place < nodes_.order().size() ? std::to_string(place + 1) : label(*input);
      before = ", ";
    });
    text += '\n';
  }
  return text;
}

}  // namespace hr
