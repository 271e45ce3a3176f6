// SPDX-License-Identifier: Apache-2.0
// The planner: which nodes run together.
#include "headrace/plan/execute/physical_plan.h"

#include "headrace/memory/budget/budget.h"
#include "headrace/plan/execute/estimates.h"
#include "headrace/plan/execute/places.h"
#include "headrace/plan/execute/sharding.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/plan_nodes.h"
#include "headrace/plan/optimize/input_fusion.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace hr {

namespace {

// Of a memory limit: what a pass makes without need, and what its workers have in hand.
constexpr int64_t kMadeShare = 8, kHandShare = 4;
constexpr int kMostRefused = 16;  // values that a pass has no room for: bounds the planner's time
// The rows that a fusable node's pass runs over: its own, or its operand's for a reduction.
const Signature& pass_signature(const NodePtr& node) {
  return node->kind() == NodeKind::kReduction ? node->fields().inputs[0]->signature()
                                              : node->signature();
}

// The device that it runs on.
Place pass_device(const NodePtr& node) {
  return (node->kind() == NodeKind::kReduction ? node->fields().inputs[0] : node)->fields().place;
}

/// Places in order of nodes that may run, by the rows that their pass runs over, and where.
class PlacesByRows {
 public:
  void add(const NodePtr& node, size_t place) {
    for (std::set<size_t>* places : sets(node, true)) places->insert(place);
  }

  void remove(const NodePtr& node, size_t place) {
    for (std::set<size_t>* places : sets(node, true)) places->erase(place);
  }

  /// The first place from `begin` on with the same rows; SIZE_MAX where there is none.
  size_t next(const NodePtr& node, size_t begin) {
    size_t first = SIZE_MAX;
    for (const std::set<size_t>* places : sets(node, false))
      if (const auto found = places->lower_bound(begin); found != places->end())
        first = std::min(first, *found);
    return first;
  }

 private:
  struct Key {
    uint64_t domain;  // 0: rows of any domain that are known
    bool is_known;
    Shape shape;
    std::pair<PlaceKind, int32_t> device;
    auto operator<=>(const Key&) const = default;
  };

  // Where rows stand (`own`), or where those that are the same stand: Signature::same_rows.
  std::vector<std::set<size_t>*> sets(const NodePtr& node, bool own) {
    const Signature& rows = pass_signature(node);
    const Place where = pass_device(node);
    const std::pair device(where.kind, where.index);
    const bool is_known = rows.rows() != kUnknown;
    Shape rest = rows.shape;
    if (!rest.empty()) rest[0] = 0;
    std::vector<std::set<size_t>*> result;
    if (is_known) result.push_back(&places_[{0, true, rows.shape, device}]);
    if (rows.domain == 0) return result;
    result.push_back(&places_[{rows.domain, own && is_known, rest, device}]);
    if (!own && !is_known) result.push_back(&places_[{rows.domain, true, rest, device}]);
    return result;
  }

  std::map<Key, std::set<size_t>> places_{};
};

class Planner {
 public:
  explicit Planner(const LogicalPlan& plan) : nodes_(plan.nodes()), same_(plan.merged()) {
    find_row_passes();
    picks_ = find_picks(nodes_, inside_);
    // What rows are picked of would stay longer, and be read in other places than where it lies.
    if (memory_limit() == INT64_MAX) late_ = find_late(nodes_);
    for (const NodePtr& node : nodes_.order()) mark_targets(node);
    mark_picks_in_other_domains();
    find_waiting();
  }

  std::vector<PlanStep> steps() {
    for (size_t i = 0; i < nodes_.order().size(); ++i) {
      const NodePtr& node = nodes_.order()[i];
      if (planned_[i] || !is_target(node)) continue;
      if (node->kind() == NodeKind::kTable)
        add_table(i);
      else if (node->fields().is_fusable())
        add_fused(i);
      else
        add_operator(node);
    }
    std::erase_if(steps_, [](const PlanStep& step) { return step.outputs.empty(); });
    return std::move(steps_);
  }

 private:
  void find_row_passes() {
    for (size_t i = 0; i < nodes_.order().size(); ++i) {
      const NodePtr& node = nodes_.order()[i];
      if (node->kind() != NodeKind::kTable) continue;
      auto pass = find_row_pass(nodes_, i);
      if (!pass) continue;
      inside_.insert(pass->inside.begin(), pass->inside.end());
      for (const NodePtr& leaf : pass->leaves) {
        if (!leaf->is_ready()) targets_.insert(leaf.get());
        first_readers_.try_emplace(leaf.get(), i);
      }
      row_passes_.emplace(node.get(), std::move(pass));
    }
  }

  bool is_target(const NodePtr& node) const {
    return targets_.contains(node.get()) || nodes_.is_root(node.get());
  }

  // A node needs memory of its own when a root, an opaque operator or a pass over other rows reads
  // it.
  void mark_targets(const NodePtr& node) {
    if (inside_.contains(node.get())) return;
    const Node::Fields& fields = node->fields();
    if (const auto pick = picks_.find(node.get()); pick != picks_.end()) {
      for (const NodePtr& input : pick->second->fields().inputs)
        if (!input->is_ready()) targets_.insert(input.get());
      return;
    }
    if (late_.contains(node.get()) && fields.kind() != NodeKind::kPart) {
      for (const NodePtr& source : late_sources(node))
        if (!source->is_ready()) targets_.insert(source.get());
      return;
    }
    if (!fields.is_fusable() || fields.kind() == NodeKind::kReduction) targets_.insert(node.get());
    count_visits(static_cast<int64_t>(fields.inputs.size()));
    for (const NodePtr& input : fields.inputs) {
      if (input->is_ready()) continue;
      const bool fused =
          fields.is_fusable() && (may_be_in_pass_of(node, input) || picks_.contains(input.get()));
      if (!fused && !inside_.contains(input.get()) && !late_.contains(input.get()))
        targets_.insert(input.get());
    }
  }

  // Picked rows that are made after all, since other rows are picked of them, are made of the rows
  // in their first domain.
  void mark_picks_in_other_domains() {
    for (size_t i = nodes_.order().size(); i-- > 0;) {  // users before inputs
      const NodePtr& node = nodes_.order()[i];
      if (!targets_.contains(node.get()) || !picks_.contains(node.get()) ||
          node->fields().lineage() != RowLineage::kSame)
        continue;
      if (const NodePtr& input = node->fields().inputs[0]; !input->is_ready())
        targets_.insert(input.get());
    }
  }

  // ---- fused passes ----

  /// A fusable target: what its chain reads, and how much of that was not planned yet.
  struct Waiting {
    std::vector<NodePtr> reads{};
    size_t blocked_by = 0;
  };

  /// Who waits for a node. `in_pass`: the same pass may make both.
  struct Waiter {
    size_t place;
    bool in_pass;
  };

  void find_waiting() {
    planned_.assign(nodes_.order().size(), false);
    waiting_.resize(nodes_.order().size());
    for (size_t i = 0; i < nodes_.order().size(); ++i) {
      const NodePtr& node = nodes_.order()[i];
      if (!node->fields().is_fusable() || !is_target(node)) continue;
      Waiting& waiting = waiting_[i];
      std::unordered_set<const Node*> seen;
      std::vector<NodePtr> stack{node};
      while (!stack.empty()) {
        const NodePtr current = std::move(stack.back());
        stack.pop_back();
        count_visits(static_cast<int64_t>(current->fields().inputs.size()));
        for (const NodePtr& input : current->fields().inputs) {
          if (!seen.insert(input.get()).second) continue;
          const bool is_ready = input->is_ready();
          const bool in_pass = !is_ready && may_be_in_pass_of(node, input);
          if (in_pass && !is_target(input)) {
            stack.push_back(input);
            continue;
          }
          waiting.reads.push_back(input);
          if (is_ready) continue;
          if (const auto pick = picks_.find(input.get()); pick != picks_.end()) {
            pick_readers_[input.get()].push_back(i);
            for (const NodePtr& base : pick->second->fields().inputs)
              if (!base->is_ready() && seen.insert(base.get()).second) wait_for(base, i, false);
          } else {
            wait_for(input, i, in_pass);
          }
        }
      }
      if (waiting.blocked_by == 0) may_run_.add(node, i);
    }
  }

  void wait_for(const NodePtr& node, size_t place, bool in_pass) {
    ++waiting_[place].blocked_by;
    waiters_[node.get()].push_back({place, in_pass});
  }

  // Those that wait for `node` and may be made in its pass; or those that may not.
  void unblock(const NodePtr& node, bool in_pass) {
    const auto found = waiters_.find(node.get());
    if (found == waiters_.end()) return;
    count_visits(static_cast<int64_t>(found->second.size()));
    for (const Waiter& waiter : found->second)
      if (waiter.in_pass == in_pass && --waiting_[waiter.place].blocked_by == 0)
        may_run_.add(nodes_.order()[waiter.place], waiter.place);
  }

  void add(PlanStep step) {
    for (const NodePtr& node : step.outputs) {
      if (const size_t place = nodes_.place(node.get()); place < planned_.size())
        planned_[place] = true;
      unblock(node, false);
      if (const auto found = same_.find(node.get()); found != same_.end())
        for (const NodePtr& each : found->second) step.same.emplace_back(each, node);
    }
    if (step.outputs.size() == 1 && step.outputs[0]->kind() == NodeKind::kElementwise)
      step_of_chain_.emplace(step.outputs[0].get(), steps_.size());
    steps_.push_back(std::move(step));
  }

  void add_operator(const NodePtr& node) {
    PlanStep step;
    step.outputs = {node};
    step.inputs = node->fields().inputs;
    step.passes = node->fields().op->passes();
    add(std::move(step));
  }

  void add_table(size_t index) {
    const NodePtr& table = nodes_.order()[index];
    PlanStep step;
    step.inputs = nodes_.inputs(*table);
    step.passes = table->fields().op->passes();
    if (const auto found = row_passes_.find(table.get()); found != row_passes_.end()) {
      step.rows = found->second;
      std::unordered_set<const Node*> leaves;
      for (const NodePtr& leaf : step.rows->leaves) leaves.insert(leaf.get());
      std::erase_if(step.inputs, [&](const NodePtr& node) {
        return inside_.contains(node.get()) || leaves.contains(node.get());
      });
      step.inputs.insert(step.inputs.end(), step.rows->leaves.begin(), step.rows->leaves.end());
    }
    std::vector<NodePtr> read;
    for (const NodePtr& input : step.inputs) {
      if (late_.contains(input.get())) step.late.insert(input.get());
      for (const NodePtr& source :
           late_.contains(input.get()) ? late_sources(input) : std::vector<NodePtr>{input})
        if (std::ranges::find(read, source) == read.end()) read.push_back(source);
    }
    if (!step.late.empty()) step.inputs = std::move(read);
    step.outputs = {table};
    step.whole_table = nodes_.is_root(table.get());
    for (const Node* user : nodes_.users(table.get()))
      if (user->kind() == NodeKind::kPart) {
        step.outputs.push_back(nodes_.order()[nodes_.place(user)]);
        if (late_.contains(user)) step.late.insert(user);
      } else {
        step.whole_table = true;
      }
    add(std::move(step));
  }

  // The first in order of those that read the value of a node and are no part of a fused pass.
  size_t first_reader(const NodePtr& node) const {
    size_t first = nodes_.order().size();
    for (const Node* user : nodes_.users(node.get()))
      if (!user->fields().is_fusable()) first = std::min(first, nodes_.place(user));
    const auto found = first_readers_.find(node.get());
    return found == first_readers_.end() ? first : std::min(first, found->second);
  }

  // A pass over the rows of one node. Under a memory limit values that take much of it together are
  // not made before they are needed, if they share no input, or if some are needed before others;
  // and never more at once than the workers can hold.
  void add_fused(size_t index) {
    const NodePtr& pass = nodes_.order()[index];
    PlanStep step;
    std::shared_ptr<RowPass> pass_rows;  // where it picks rows
    std::unordered_set<const Node*> read;
    const int64_t limit = memory_limit();
    const bool is_bounded = limit != INT64_MAX;
    int64_t made = 0, in_hand = 0;
    size_t wanted_at = nodes_.order().size();
    int refused = 0;
    for (size_t i = index;
         i < nodes_.order().size() && refused < kMostRefused && step.outputs.size() < kMostOutputs;
         i = may_run_.next(pass, i + 1)) {
      const NodePtr& node = nodes_.order()[i];
      const std::vector<NodePtr>& inputs = waiting_[i].reads;
      count_visits(1 + static_cast<int64_t>(inputs.size()));
      if (is_bounded) {
        const int64_t bytes = std::max<int64_t>(estimates_.bytes(node), 0);
        int64_t held = estimates_.bytes_in_hand(node);
        bool shares = false;
        for (const NodePtr& input : inputs)
          if (read.contains(input.get()))
            shares |= !input->signature().is_scalar();
          else
            held += estimates_.bytes_in_hand(input);
        const bool may_wait = !shares || (wanted_at < i && !nodes_.is_root(node.get()));
        if (!step.outputs.empty() && (in_hand + held > limit / kHandShare ||
                                      (made + bytes > limit / kMadeShare && may_wait))) {
          ++refused;
          continue;
        }
        made += bytes;
        in_hand += held;
        wanted_at = std::min(wanted_at, first_reader(node));
      }
      for (const NodePtr& input : inputs)
        if (read.insert(input.get()).second && !pick_in_pass(input, pass_rows))
          step.inputs.push_back(input);
      read.insert(node.get());
      step.outputs.push_back(node);
      planned_[i] = true;
      may_run_.remove(node, i);
      unblock(node, true);
    }
    if (pass_rows) add_picks(step, std::move(pass_rows));
    add(std::move(step));
  }

  // Whether a pass picks the rows `node` itself.
  bool pick_in_pass(const NodePtr& node, std::shared_ptr<RowPass>& rows) const {
    const auto found = picks_.find(node.get());
    if (found == picks_.end() || planned_[nodes_.place(node.get())]) return false;
    if (!rows) rows = std::make_shared<RowPass>();
    rows->mask = found->second->fields().inputs[1];
    for (NodePtr pick = node;; pick = pick->fields().inputs[0]) {
      rows->inside.insert(pick.get());
      if (pick == found->second) break;
    }
    rows->leaves.push_back(node);
    return true;
  }

  // What the pass reads for the rows that it picks. Those that another pass needs later are kept.
  void add_picks(PlanStep& step, std::shared_ptr<RowPass> rows) {
    std::unordered_set<const Node*> read;
    for (const NodePtr& node : std::exchange(rows->leaves, {})) {
      for (const NodePtr& input : picks_.at(node.get())->fields().inputs)
        if (read.insert(input.get()).second) step.inputs.push_back(input);
      const std::vector<size_t>& readers = pick_readers_[node.get()];
      if (!std::ranges::all_of(readers, [&](size_t place) { return planned_[place]; }))
        step.outputs.push_back(node);
    }
    take_mask(step, *rows);
    step.rows = std::move(rows);
  }

  // Reductions compute the mask of their rows themselves where a step makes nothing else, for them
  // alone. Under a memory limit a task may not wait for others, as theirs do.
  void take_mask(PlanStep& step, RowPass& rows) {
    const auto found = step_of_chain_.find(rows.mask.get());
    if (found == step_of_chain_.end() || nodes_.is_root(rows.mask.get()) ||
        memory_limit() != INT64_MAX)
      return;
    PlanStep& own = steps_[found->second];
    const auto is_reduction = [](const NodePtr& node) {
      return node->kind() == NodeKind::kReduction;
    };
    const auto is_inside = [&](const Node* user) { return rows.inside.contains(user); };
    if (own.rows || !own.same.empty() || !std::ranges::all_of(step.outputs, is_reduction) ||
        !std::ranges::all_of(nodes_.users(rows.mask.get()), is_inside))
      return;
    std::erase(step.inputs, rows.mask);
    for (const NodePtr& input : own.inputs)
      if (std::ranges::find(step.inputs, input) == step.inputs.end()) step.inputs.push_back(input);
    rows.computes_mask = true;
    own = {};
  }

  const PlanNodes& nodes_;
  Estimates estimates_{false};
  const std::unordered_map<const Node*, std::vector<NodePtr>>& same_;  // roots, by whose value
  std::unordered_set<const Node*> targets_;
  std::unordered_set<const Node*> inside_;  // of some row pass
  std::unordered_map<const Node*, std::shared_ptr<const RowPass>> row_passes_;
  std::unordered_map<const Node*, NodePtr> picks_;  // that fused passes make, and what picks them
  std::unordered_set<const Node*> late_;
  std::unordered_map<const Node*, std::vector<size_t>> pick_readers_;
  std::unordered_map<const Node*, size_t> first_readers_;  // of leaves: the place of a table
  std::vector<bool> planned_;
  std::vector<Waiting> waiting_;  // by place
  std::unordered_map<const Node*, std::vector<Waiter>> waiters_;
  PlacesByRows may_run_;
  std::unordered_map<const Node*, size_t> step_of_chain_;  // that makes nothing else
  std::vector<PlanStep> steps_;
};

}  // namespace

bool are_in_one_pass(const NodePtr& a, const NodePtr& b) {
  return pass_signature(a).same_rows(pass_signature(b)) && pass_device(a) == pass_device(b);
}

bool may_be_in_pass_of(const NodePtr& node, const NodePtr& input) {
  return input->kind() == NodeKind::kElementwise &&
         input->signature().same_rows(pass_signature(node)) &&
         input->fields().chain_length < kLongestChain;
}

Place place_of(const PlanStep& step) {
  return pass_device(step.outputs[0]);
}

std::vector<bool> wanted_columns(const PlanStep& step) {
  const Node::Fields& table = step.outputs[0]->fields();
  if (table.kind() != NodeKind::kTable) return {};
  std::vector<bool> wanted(table.table().names.size(), step.whole_table);
  for (const NodePtr& node : step.outputs)
    if (node->kind() == NodeKind::kPart) wanted[static_cast<size_t>(node->fields().part())] = true;
  return wanted;
}

std::vector<PlanStep> plan_steps(const LogicalPlan& plan) {
  return Planner(plan).steps();
}

std::vector<PlanStep> plan_steps(std::span<const NodePtr> roots) {
  LogicalPlan plan(roots);
  optimize(plan);
  shard(plan);
  choose_places(plan);
  return plan_steps(plan);
}

}  // namespace hr
