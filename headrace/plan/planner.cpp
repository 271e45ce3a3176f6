// SPDX-License-Identifier: Apache-2.0
// The planner: which nodes run together.
#include "headrace/plan/planner.h"

#include "headrace/memory/budget.h"
#include "headrace/plan/equal_nodes.h"
#include "headrace/plan/guesses.h"
#include "headrace/plan/needless_order.h"
#include "headrace/plan/node_fields.h"
#include "headrace/plan/prefix.h"
#include "headrace/plan/push_filters.h"
#include "headrace/plan/push_keys.h"
#include "headrace/plan/row_pass.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace hr {

namespace {

// Of a memory limit: what a pass makes without need, and what its workers have in hand.
constexpr int64_t kMadeShare = 8, kHandShare = 4;
constexpr int kMostRefused = 16;  // values that a pass has no room for: bounds the planner's time

using Needs = std::unordered_map<const Node*, std::vector<bool>>;

// Marks what table `node` reads for column `part` (all of them: -1); true if that is news.
bool add_needs(const Node::Fields& table, int64_t part, std::vector<bool>& needed) {
  bool news = needed.empty();
  if (needed.empty()) {
    needed.assign(table.inputs.size(), true);
    for (const auto& places : table.reads)
      for (const int64_t place : places) needed[static_cast<size_t>(place)] = false;
  }
  for (size_t i = 0; i < table.reads.size(); ++i) {
    if (part >= 0 && i != static_cast<size_t>(part)) continue;
    for (const int64_t place : table.reads[i]) {
      news |= !needed[static_cast<size_t>(place)];
      needed[static_cast<size_t>(place)] = true;
    }
  }
  return news;
}

// Which inputs each table reads for the columns that the roots want of it.
Needs table_needs(std::span<const NodePtr> roots) {
  Needs needs;
  std::unordered_set<const Node*> seen;
  std::vector<Node*> stack;
  const auto visit = [&](Node* node) {
    if (!node->is_ready() && seen.insert(node).second) stack.push_back(node);
  };
  const auto want = [&](Node* table, int64_t part) {
    if (table->is_ready()) return;
    const Node::Fields& fields = table->fields();
    std::vector<bool>& needed = needs[table];
    if (!add_needs(fields, part, needed)) return;
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) visit(fields.inputs[i].get());
  };
  for (const NodePtr& root : roots) visit(root.get());
  while (!stack.empty()) {
    Node* const node = stack.back();
    stack.pop_back();
    const Node::Fields& fields = node->fields();
    if (fields.kind == NodeKind::kTable) {
      want(node, -1);
    } else if (fields.kind == NodeKind::kPart) {
      want(fields.inputs[0].get(), fields.part);
    } else {
      for (const NodePtr& input : fields.inputs) visit(input.get());
    }
  }
  return needs;
}

std::vector<NodePtr> inputs_of(const Node& node, const Needs& needs) {
  const Node::Fields& fields = node.fields();
  const auto found = needs.find(&node);
  if (found == needs.end()) return fields.inputs;
  std::vector<NodePtr> result;
  for (size_t i = 0; i < fields.inputs.size(); ++i)
    if (found->second[i]) result.push_back(fields.inputs[i]);
  return result;
}

// Nodes that still have to run, inputs before users.
std::vector<NodePtr> pending_nodes(std::span<const NodePtr> roots, const Needs& needs) {
  std::vector<NodePtr> order;
  std::unordered_set<const Node*> seen;
  struct Visit {
    NodePtr node;
    std::vector<NodePtr> inputs;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto visit = [&](const NodePtr& node) {
    if (!node->is_ready() && seen.insert(node.get()).second)
      stack.push_back({node, inputs_of(*node, needs)});
  };
  for (const NodePtr& root : roots) {
    visit(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == top.inputs.size()) {
        order.push_back(std::move(top.node));
        stack.pop_back();
        continue;
      }
      visit(NodePtr(top.inputs[top.next++]));
    }
  }
  return order;
}

// Whether a node puts pieces together that end with it. It goes first: under a limit many small
// pieces leave memory and come back more dearly than one column.
bool joins_pieces_of_its_own(const NodePtr& node) {
  const Node::Fields& fields = node->fields();
  return fields.traits.concats &&
         std::all_of(fields.inputs.begin(), fields.inputs.end(), [](const NodePtr& input) {
           return input->is_ready() && input.use_count() == 1;
         });
}

// The rows that a fusable node's pass runs over: its own, or its operand's for a reduction.
const Signature& pass_signature(const NodePtr& node) {
  return node->kind() == NodeKind::kReduction ? node->fields().inputs[0]->signature()
                                              : node->signature();
}

class Planner {
 public:
  explicit Planner(std::span<const NodePtr> given) {
    std::vector<NodePtr> roots(given.begin(), given.end());
    read(roots);
    merge(roots);
    bool pushed = false;
    while (push_filter(order_, users_, roots_)) {
      pushed = true;
      read(roots);
    }
    if (push_first_rows(order_, users_, roots_)) {
      pushed = true;
      read(roots);
    }
    if (pushed) merge(roots);
    while (push_keys(order_, users_, roots_)) read(roots);
    advise_on_order(order_, users_, roots_);
    targets_ = roots_;
    find_row_passes();
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
  void read(std::span<const NodePtr> roots) {
    needs_ = table_needs(roots);
    order_ = pending_nodes(roots, needs_);
    std::stable_partition(order_.begin(), order_.end(), joins_pieces_of_its_own);
    users_.clear();
    for (const NodePtr& node : order_)
      for (const NodePtr& input : inputs_of(*node, needs_))
        users_[input.get()].push_back(node.get());
  }

  // Equal nodes become one.
  void merge(std::vector<NodePtr>& roots) {
    const auto same = merge_equal_nodes(order_);
    for (NodePtr& root : roots) {
      const auto found = same.find(root.get());
      if (found == same.end()) continue;
      std::vector<NodePtr> ended = std::move(same_[root.get()]);
      ended.push_back(root);
      std::vector<NodePtr>& all = same_[found->second.get()];
      all.insert(all.end(), ended.begin(), ended.end());
      same_.erase(root.get());
      root = found->second;
    }
    if (!same.empty()) read(roots);
    roots_.clear();
    for (const NodePtr& root : roots) roots_.insert(root.get());
  }

  void find_row_passes() {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (order_[i]->kind() != NodeKind::kTable) continue;
      auto pass = find_row_pass(order_, i, inputs_of(*order_[i], needs_), users_, roots_);
      if (!pass) continue;
      inside_.insert(pass->inside.begin(), pass->inside.end());
      for (const NodePtr& leaf : pass->leaves)
        if (!leaf->is_ready()) targets_.insert(leaf.get());
      row_passes_.emplace(order_[i].get(), std::move(pass));
    }
  }

  // A node needs memory of its own when a root, an opaque operator or a pass over other rows reads
  // it.
  void mark_targets(const NodePtr& node) {
    if (inside_.contains(node.get())) return;
    const Node::Fields& fields = node->fields();
    if (!fields.is_fusable() || fields.kind == NodeKind::kReduction) targets_.insert(node.get());
    for (const NodePtr& input : fields.inputs) {
      if (input->is_ready()) continue;
      const bool fused = fields.is_fusable() && input->kind() == NodeKind::kElementwise &&
                         input->signature().same_rows(pass_signature(node)) &&
                         input->fields().chain_length < kLongestChain;
      if (!fused && !inside_.contains(input.get())) targets_.insert(input.get());
    }
  }

  void add(PlanStep step) {
    for (const NodePtr& node : step.outputs) {
      planned_.insert(node.get());
      if (const auto found = same_.find(node.get()); found != same_.end())
        for (const NodePtr& each : found->second) step.same.emplace_back(each, node);
    }
    steps_.push_back(std::move(step));
  }

  void add_operator(const NodePtr& node) {
    PlanStep step;
    step.outputs = {node};
    step.inputs = node->fields().inputs;
    step.passes = node->fields().passes;
    add(std::move(step));
  }

  void add_table(size_t index) {
    const NodePtr& table = order_[index];
    PlanStep step;
    step.inputs = inputs_of(*table, needs_);
    step.passes = table->fields().passes;
    if (const auto found = row_passes_.find(table.get()); found != row_passes_.end()) {
      step.rows = found->second;
      std::erase_if(step.inputs, [&](const NodePtr& node) {
        return inside_.contains(node.get()) ||
               std::find(step.rows->leaves.begin(), step.rows->leaves.end(), node) !=
                   step.rows->leaves.end();
      });
      step.inputs.insert(step.inputs.end(), step.rows->leaves.begin(), step.rows->leaves.end());
    }
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

  // What a chain reads from memory and of `group`: false if some of it is not there yet when this
  // step runs.
  bool collect_inputs(const NodePtr& node, const std::unordered_set<const Node*>& group,
                      std::vector<NodePtr>& inputs) const {
    std::unordered_set<const Node*> seen;
    std::vector<NodePtr> stack{node};
    while (!stack.empty()) {
      const NodePtr current = stack.back();
      stack.pop_back();
      for (const NodePtr& input : current->fields().inputs) {
        if (!seen.insert(input.get()).second) continue;
        const bool is_there = input->is_ready() || planned_.contains(input.get());
        const bool is_chain = !is_there && input->kind() == NodeKind::kElementwise &&
                              input->fields().chain_length < kLongestChain &&
                              input->signature().same_rows(pass_signature(node));
        if (is_chain && !targets_.contains(input.get()))
          stack.push_back(input);
        else if (is_there || (is_chain && group.contains(input.get())))
          inputs.push_back(input);
        else
          return false;
      }
    }
    return true;
  }

  // Whether the step of `table` reads one of `group`.
  bool reads_one_of(const NodePtr& table, const std::unordered_set<const Node*>& group) const {
    const auto is_in_group = [&](const NodePtr& node) { return group.contains(node.get()); };
    const std::vector<NodePtr> inputs = inputs_of(*table, needs_);
    if (std::any_of(inputs.begin(), inputs.end(), is_in_group)) return true;
    const auto found = row_passes_.find(table.get());
    return found != row_passes_.end() &&
           std::any_of(found->second->leaves.begin(), found->second->leaves.end(), is_in_group);
  }

  // A pass over the rows of one node. Under a memory limit values that take much of it together are
  // not made before they are wanted, if they share no input, or if some are wanted before others;
  // and never more at once than the workers can hold.
  void add_fused(size_t index) {
    const Signature& pass = pass_signature(order_[index]);
    PlanStep step;
    std::unordered_set<const Node*> group;
    std::unordered_set<const Node*> read;
    const int64_t limit = memory_limit();
    const bool is_bounded = limit != INT64_MAX;
    int64_t made = 0, in_hand = 0;
    bool is_wanted = false;
    int refused = 0;
    for (size_t i = index; i < order_.size() && refused < kMostRefused; ++i) {
      const NodePtr& node = order_[i];
      if (!node->fields().is_fusable()) {
        is_wanted = is_wanted || (is_bounded && reads_one_of(node, group));
        continue;
      }
      if (!targets_.contains(node.get()) || planned_.contains(node.get()) ||
          !pass_signature(node).same_rows(pass))
        continue;
      std::vector<NodePtr> inputs;
      if (!collect_inputs(node, group, inputs)) continue;
      if (is_bounded) {
        const int64_t bytes = std::max<int64_t>(guesses_.bytes(node), 0);
        int64_t held = guesses_.bytes_in_hand(node);
        bool shares = false;
        for (const NodePtr& input : inputs)
          if (read.contains(input.get()))
            shares |= !input->signature().is_scalar();
          else
            held += guesses_.bytes_in_hand(input);
        const bool may_wait = !shares || (is_wanted && !roots_.contains(node.get()));
        if (!group.empty() && (in_hand + held > limit / kHandShare ||
                               (made + bytes > limit / kMadeShare && may_wait))) {
          ++refused;
          continue;
        }
        made += bytes;
        in_hand += held;
      }
      for (const NodePtr& input : inputs)
        if (read.insert(input.get()).second) step.inputs.push_back(input);
      step.outputs.push_back(node);
      group.insert(node.get());
      read.insert(node.get());
    }
    add(std::move(step));
  }

  Needs needs_;
  Guesses guesses_{false};
  std::vector<NodePtr> order_;
  NodeUsers users_;
  std::unordered_map<const Node*, std::vector<NodePtr>> same_;  // roots with the value of a node
  std::unordered_set<const Node*> roots_;
  std::unordered_set<const Node*> targets_;
  std::unordered_set<const Node*> planned_;
  std::unordered_set<const Node*> inside_;  // of some row pass
  std::unordered_map<const Node*, std::shared_ptr<const RowPass>> row_passes_;
  std::vector<PlanStep> steps_;
};

}  // namespace

std::vector<bool> wanted_columns(const PlanStep& step) {
  std::vector<bool> wanted(step.outputs[0]->fields().names.size(), step.whole_table);
  for (const NodePtr& node : step.outputs)
    if (node->kind() == NodeKind::kPart) wanted[static_cast<size_t>(node->fields().part)] = true;
  return wanted;
}

std::vector<PlanStep> plan_steps(std::span<const NodePtr> roots) {
  return Planner(roots).steps();
}

}  // namespace hr
