// SPDX-License-Identifier: Apache-2.0
// The nodes that a plan has to run, and who reads them.
#include "headrace/plan/graph/plan_nodes.h"

#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace hr {

namespace {

using Needs = std::unordered_map<const Node*, std::vector<bool>>;

std::atomic<int64_t> visits{0};

thread_local uint64_t plan_of_this_thread = 0;

// Marks what table `node` reads for column `part` (all of them: -1), and calls `visit` for what no
// column read before.
template <class F>
void add_needs(const Node& node, uint64_t plan, int64_t part, std::vector<bool>& needed,
               F&& visit) {
  const Node::Fields& table = PlanNodes::form_of(node, plan);
  const auto need = [&](size_t place) {
    needed[place] = true;
    PlanNodes::visit_standing(table.inputs[place], plan, visit);
  };
  const auto& reads = table.table().columns_needed;
  if (needed.empty()) {
    std::vector<bool> by_column(table.inputs.size());
    for (const auto& places : reads)
      for (const int64_t place : places) by_column[static_cast<size_t>(place)] = true;
    needed.resize(table.inputs.size());
    for (size_t i = 0; i < needed.size(); ++i)
      if (!by_column[i]) need(i);
  }
  const auto column = static_cast<size_t>(part);
  for (size_t i = part < 0 ? 0 : column; i < (part < 0 ? reads.size() : column + 1); ++i)
    if (i < reads.size())
      for (const int64_t place : reads[i])
        if (!needed[static_cast<size_t>(place)]) need(static_cast<size_t>(place));
}

// Which inputs each table reads for the columns that the roots want of it.
Needs table_needs(std::span<const NodePtr> roots, uint64_t plan) {
  Needs needs;
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack;
  const auto visit = [&](const NodePtr& node) {
    if (!node->is_ready() && seen.insert(node.get()).second) stack.push_back(node.get());
  };
  const auto need = [&](const Node& table, int64_t part) {
    if (!table.is_ready()) add_needs(table, plan, part, needs[&table], visit);
  };
  for (const NodePtr& root : roots) PlanNodes::visit_standing(root, plan, visit);
  while (!stack.empty()) {
    const Node* const node = stack.back();
    stack.pop_back();
    const Node::Fields& fields = PlanNodes::form_of(*node, plan);
    count_visits(1);
    if (fields.kind() == NodeKind::kTable) {
      need(*node, -1);
    } else if (fields.kind() == NodeKind::kPart) {
      PlanNodes::visit_standing(fields.inputs[0], plan,
                                [&](const NodePtr& table) { need(*table, fields.part()); });
    } else {
      for (const NodePtr& input : fields.inputs) PlanNodes::visit_standing(input, plan, visit);
    }
  }
  return needs;
}

// Whether a node puts pieces together that end with it. It goes first: under a limit many small
// pieces leave memory and come back more dearly than one column.
bool joins_pieces_of_its_own(const NodePtr& node) {
  return node->fields().owns_inputs && node->fields().lineage() == RowLineage::kConcatenated;
}

}  // namespace

uint64_t current_plan() {
  return plan_of_this_thread;
}

uint64_t set_current_plan(uint64_t plan) {
  return std::exchange(plan_of_this_thread, plan);
}

int64_t planning_visits() {
  return visits.load(std::memory_order_relaxed);
}

void count_visits(int64_t count) {
  visits.store(visits.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}

NodePtr PlanNodes::standing_for(const NodePtr& node, uint64_t plan) {
  NodePtr current = node;
  while (!current->is_ready() && current->fields().plan != plan) {
    NodePtr origin = current->fields().origin.lock();
    if (!origin) break;
    current = std::move(origin);
  }
  return current;
}

const Node::Fields& PlanNodes::form_of(const Node& node, uint64_t plan) {
  const Node::Fields& own = node.fields();
  return own.optimized && own.plan != plan ? own.optimized->fields() : own;
}

PlanNodes::PlanNodes(std::span<const NodePtr> roots, uint64_t plan)
    : plan_(plan), needs_(table_needs(roots, plan)) {
  order_nodes(roots);
  std::stable_partition(order_.begin(), order_.end(), joins_pieces_of_its_own);
  find_users();
}

void PlanNodes::order_nodes(std::span<const NodePtr> roots) {
  struct Visit {
    NodePtr node;
    const std::vector<NodePtr>* inputs;
    const std::vector<bool>* needed;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto visit = [&](const NodePtr& node) {
    if (!node->is_ready() && known_.try_emplace(node.get()).second) {
      stack.push_back({node, &form_of(*node, plan_).inputs, needs_of(*node)});
      count_visits(1 + static_cast<int64_t>(stack.back().inputs->size()));
    }
  };
  for (const NodePtr& root : roots) {
    visit_standing(root, plan_, [&](const NodePtr& node) {
      roots_.insert(node.get());
      visit(node);
    });
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == top.inputs->size()) {
        order_.push_back(std::move(top.node));
        stack.pop_back();
        continue;
      }
      const size_t i = top.next++;
      if (!top.needed || (*top.needed)[i]) visit_standing((*top.inputs)[i], plan_, visit);
    }
  }
}

// The users of all nodes lie in one array, those of one node together.
void PlanNodes::find_users() {
  std::vector<std::pair<Known*, const Node*>> uses;
  for (size_t i = 0; i < order_.size(); ++i) {
    const Node* const node = order_[i].get();
    known_[node].place = i;
    for_each_input(*node, [&](const NodePtr& input) {
      Known& known = known_[input.get()];
      ++known.num_users;
      uses.emplace_back(&known, node);
    });
  }
  users_.resize(uses.size());
  size_t end = 0;
  for (auto& [node, known] : known_) known.first_user = end += known.num_users;
  for (size_t i = uses.size(); i-- > 0;) users_[--uses[i].first->first_user] = uses[i].second;
}

size_t PlanNodes::place(const Node* node) const {
  const auto found = known_.find(node);
  return found == known_.end() || found->second.place == kNoPlace ? order_.size()
                                                                  : found->second.place;
}

std::span<const Node* const> PlanNodes::users(const Node* node) const {
  const auto found = known_.find(node);
  if (found == known_.end()) return {};
  count_visits(static_cast<int64_t>(found->second.num_users));
  return std::span(users_).subspan(found->second.first_user, found->second.num_users);
}

std::vector<NodePtr> PlanNodes::inputs(const Node& node) const {
  std::vector<NodePtr> result;
  for_each_input(node, [&](const NodePtr& input) { result.push_back(input); });
  return result;
}

std::vector<NodePtr> inputs_of_columns(std::span<const NodePtr> table_and_columns) {
  std::vector<NodePtr> inputs;
  std::vector<bool> needed;
  for (const NodePtr& column : table_and_columns.subspan(1))
    add_needs(*table_and_columns[0], 0, column->fields().part(), needed,
              [&](const NodePtr& input) { inputs.push_back(input); });
  return inputs;
}

}  // namespace hr
