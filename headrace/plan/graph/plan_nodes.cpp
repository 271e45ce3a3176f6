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
    visit(PlanNodes::standing_for(table.inputs[place], plan).get());
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
  const auto visit = [&](const Node* node) {
    if (!node->is_ready() && seen.insert(node).second) stack.push_back(node);
  };
  const auto want = [&](const Node* table, int64_t part) {
    if (!table->is_ready()) add_needs(*table, plan, part, needs[table], visit);
  };
  for (const NodePtr& root : roots) visit(PlanNodes::standing_for(root, plan).get());
  while (!stack.empty()) {
    const Node* const node = stack.back();
    stack.pop_back();
    const Node::Fields& fields = PlanNodes::form_of(*node, plan);
    count_visits(1);
    if (fields.kind() == NodeKind::kTable) {
      want(node, -1);
    } else if (fields.kind() == NodeKind::kPart) {
      want(PlanNodes::standing_for(fields.inputs[0], plan).get(), fields.part());
    } else {
      for (const NodePtr& input : fields.inputs) visit(PlanNodes::standing_for(input, plan).get());
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
  std::unordered_set<const Node*> seen;
  struct Visit {
    NodePtr node;
    std::vector<NodePtr> inputs;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto visit = [&](const NodePtr& node) {
    if (!node->is_ready() && seen.insert(node.get()).second) stack.push_back({node, inputs(*node)});
  };
  for (const NodePtr& given : roots) {
    const NodePtr root = standing_for(given, plan);
    roots_.insert(root.get());
    visit(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == top.inputs.size()) {
        order_.push_back(std::move(top.node));
        stack.pop_back();
        continue;
      }
      visit(NodePtr(top.inputs[top.next++]));
    }
  }
  std::stable_partition(order_.begin(), order_.end(), joins_pieces_of_its_own);
  for (size_t i = 0; i < order_.size(); ++i) {
    const Node* const node = order_[i].get();
    places_.emplace(node, i);
    for_each_input(*node, [&](const NodePtr& input) { users_[input.get()].push_back(node); });
  }
}

size_t PlanNodes::place(const Node* node) const {
  const auto found = places_.find(node);
  return found == places_.end() ? order_.size() : found->second;
}

std::span<const Node* const> PlanNodes::users(const Node* node) const {
  const auto found = users_.find(node);
  if (found == users_.end()) return {};
  count_visits(static_cast<int64_t>(found->second.size()));
  return found->second;
}

std::vector<NodePtr> PlanNodes::inputs(const Node& node) const {
  std::vector<NodePtr> result;
  for_each_input(node, [&](const NodePtr& input) { result.push_back(input); });
  return result;
}

}  // namespace hr
