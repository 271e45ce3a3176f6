// SPDX-License-Identifier: Apache-2.0
// The plan that is optimized.
#include "headrace/plan/optimize/logical_plan.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/common_subplans.h"

#include <algorithm>

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

// Copies nodes for a plan and rewires what reads them.
class Copier {
 public:
  Copier(uint64_t plan, std::vector<NodePtr>& made) : plan_(plan), made_(made) {}

  bool is_empty() const { return copies_.empty(); }

  bool has_copied(const NodePtr& node) const { return copies_.contains(node.get()); }

  NodePtr copy(const NodePtr& node) {
    const Node::Fields& form = PlanNodes::form_of(*node, plan_);
    const bool owns = owns_inputs(form);
    auto fields = std::make_unique<Node::Fields>(form);
    fields->plan = plan_;
    fields->origin = node;
    if (form.of_table) fields->of_table = std::make_shared<TableFields>(*form.of_table);
    fields->tag = node->fields().tag;
    fields->optimized = nullptr;
    fields->is_rewritten = false;
    fields->owns_inputs = owns;
    rewire(fields->inputs);
    made_.push_back(std::make_shared<Node>(std::move(fields)));
    copies_.emplace(node.get(), made_.back());
    return made_.back();
  }

  void rewire(std::vector<NodePtr>& inputs) {
    for (NodePtr& input : inputs) input = own(input);
  }

  // The plan's node for a node.
  NodePtr own(const NodePtr& node) {
    NodePtr known = PlanNodes::standing_for(node, plan_);
    const auto found = copies_.find(known.get());
    if (found != copies_.end()) return found->second;
    return has_only_copied_inputs(known) ? copy(known) : known;
  }

 private:
  // Unneeded columns of copied tables are copied too: a pass that rewrites some columns of a table
  // has to rewrite all.
  bool has_only_copied_inputs(const NodePtr& node) const {
    if (node->is_ready() || node->fields().plan == plan_) return false;
    const auto& inputs = PlanNodes::form_of(*node, plan_).inputs;
    return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](const NodePtr& input) {
      const NodePtr known = PlanNodes::standing_for(input, plan_);
      return known->is_ready() || copies_.contains(known.get());
    });
  }

  uint64_t plan_;
  std::vector<NodePtr>& made_;
  std::unordered_map<const Node*, NodePtr> copies_{};
};

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

std::vector<NodePtr> LogicalPlan::replace_root(const NodePtr& root,
                                               const std::vector<NodePtr>& nodes) {
  std::vector<NodePtr> ended{root};
  if (const auto found = merged_.find(root.get()); found != merged_.end()) {
    ended.insert(ended.end(), found->second.begin(), found->second.end());
    merged_.erase(found);
  }
  std::erase(roots_, root);
  roots_.insert(roots_.end(), nodes.begin(), nodes.end());
  return ended;
}

// Nodes that are not this plan's own are copied.
void LogicalPlan::refresh() {
  nodes_ = PlanNodes(roots_, id_);
  Copier copier(id_, copies_);
  for (const NodePtr& node : nodes_.order()) {
    if (copier.has_copied(node)) continue;
    if (node->fields().plan == id_)
      copier.rewire(node->fields().inputs);
    else
      copier.copy(node);
  }
  copier.rewire(roots_);
  if (!copier.is_empty()) nodes_ = PlanNodes(roots_, id_);
}

void LogicalPlan::merge_equal() {
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
}

void LogicalPlan::keep_rewritten() const {
  for (const NodePtr& node : copies_) {
    const Node::Fields& fields = node->fields();
    const NodePtr origin = fields.origin.lock();
    if (!origin) continue;
    if (fields.is_rewritten) origin->fields().optimized = node;
    if (!fields.of_table || !fields.of_table->was_filtered) continue;
    TableFields& own = *origin->fields().of_table;
    own.was_filtered = true;
    own.filtered_to = fields.of_table->filtered_to;
    own.filtered_by = fields.of_table->filtered_by;
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
