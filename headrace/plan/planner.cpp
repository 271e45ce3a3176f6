// SPDX-License-Identifier: Apache-2.0
// The planner: which nodes run together.
#include "headrace/plan/planner.h"

#include "headrace/plan/node_fields.h"

#include <algorithm>
#include <unordered_set>

namespace hr {

namespace {

// Nodes that still have to run, inputs before users.
std::vector<NodePtr> pending_nodes(std::span<const NodePtr> roots) {
  std::vector<NodePtr> order;
  std::unordered_set<const Node*> seen;
  std::vector<std::pair<NodePtr, size_t>> stack;
  for (const NodePtr& root : roots) {
    if (root->is_ready() || !seen.insert(root.get()).second) continue;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const auto& inputs = node->fields().inputs;
      if (next == inputs.size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const NodePtr& input = inputs[next++];
      if (!input->is_ready() && seen.insert(input.get()).second) stack.emplace_back(input, 0);
    }
  }
  return order;
}

// The rows that a fusable node's pass runs over: its own, or its operand's for a reduction.
const Signature& pass_signature(const NodePtr& node) {
  return node->kind() == NodeKind::kReduction ? node->fields().inputs[0]->signature()
                                              : node->signature();
}

class Planner {
 public:
  explicit Planner(std::span<const NodePtr> roots) : order_(pending_nodes(roots)) {
    for (const NodePtr& root : roots) roots_.insert(root.get());
    targets_ = roots_;
    for (const NodePtr& node : order_) mark_targets(node);
  }

  std::vector<PlanStep> steps() {
    for (size_t i = 0; i < order_.size(); ++i) {
      const NodePtr& node = order_[i];
      if (planned_.contains(node.get()) || !targets_.contains(node.get())) continue;
      if (node->kind() == NodeKind::kTable)
        add_table(i);
      else if (node->fields().is_fusable())
        add_fused(i);
      else
        add_operator(node);
    }
    return std::move(steps_);
  }

 private:
  // A node needs memory of its own when a root, an opaque operator or a pass over other rows reads
  // it.
  void mark_targets(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    if (!fields.is_fusable() || fields.kind == NodeKind::kReduction) targets_.insert(node.get());
    for (const NodePtr& input : fields.inputs) {
      if (input->is_ready()) continue;
      const bool fused = fields.is_fusable() && input->kind() == NodeKind::kElementwise &&
                         input->signature().same_rows(pass_signature(node)) &&
                         input->fields().chain_length < kLongestChain;
      if (!fused) targets_.insert(input.get());
    }
  }

  void add(PlanStep step) {
    for (const NodePtr& node : step.outputs) planned_.insert(node.get());
    steps_.push_back(std::move(step));
  }

  void add_operator(const NodePtr& node) {
    add({{node}, node->fields().inputs, node->fields().passes});
  }

  void add_table(size_t index) {
    const NodePtr& table = order_[index];
    PlanStep step{{}, table->fields().inputs, table->fields().passes};
    step.whole_table = roots_.contains(table.get());
    for (const NodePtr& node : order_)
      for (const NodePtr& input : node->fields().inputs)
        if (input == table) {
          if (node->kind() == NodeKind::kPart)
            step.outputs.push_back(node);
          else
            step.whole_table = true;
        }
    step.outputs.insert(step.outputs.begin(), table);
    add(std::move(step));
  }

  // What a chain reads from memory: false if some of it is not there yet when this step runs.
  bool collect_inputs(const NodePtr& node, const std::unordered_set<const Node*>& group,
                      std::vector<NodePtr>& inputs, std::unordered_set<const Node*>& seen) const {
    std::vector<NodePtr> stack{node};
    while (!stack.empty()) {
      const NodePtr current = stack.back();
      stack.pop_back();
      for (const NodePtr& input : current->fields().inputs) {
        if (!seen.insert(input.get()).second) continue;
        const bool inside = !input->is_ready() && !planned_.contains(input.get()) &&
                            input->kind() == NodeKind::kElementwise &&
                            (!targets_.contains(input.get()) || group.contains(input.get())) &&
                            input->signature().same_rows(pass_signature(node));
        if (inside) {
          stack.push_back(input);
          continue;
        }
        if (!input->is_ready() && !planned_.contains(input.get())) return false;
        inputs.push_back(input);
      }
    }
    return true;
  }

  void add_fused(size_t index) {
    const Signature& pass = pass_signature(order_[index]);
    PlanStep step;
    std::unordered_set<const Node*> group;
    std::unordered_set<const Node*> seen;
    for (size_t i = index; i < order_.size(); ++i) {
      const NodePtr& node = order_[i];
      if (!node->fields().is_fusable() || !targets_.contains(node.get()) ||
          planned_.contains(node.get()) || !pass_signature(node).same_rows(pass))
        continue;
      std::vector<NodePtr> inputs;
      std::unordered_set<const Node*> tried = seen;
      if (!collect_inputs(node, group, inputs, tried)) continue;
      seen = std::move(tried);
      step.inputs.insert(step.inputs.end(), inputs.begin(), inputs.end());
      step.outputs.push_back(node);
      group.insert(node.get());
    }
    add(std::move(step));
  }

  std::vector<NodePtr> order_;
  std::unordered_set<const Node*> roots_;
  std::unordered_set<const Node*> targets_;
  std::unordered_set<const Node*> planned_;
  std::vector<PlanStep> steps_;
};

}  // namespace

std::vector<PlanStep> plan_steps(std::span<const NodePtr> roots) {
  return Planner(roots).steps();
}

}  // namespace hr
