// SPDX-License-Identifier: Apache-2.0
// Sorted rows of which the order does not matter.
#include "headrace/plan/optimize/redundant_sort.h"

#include "headrace/memory/log/advice.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/expression_rewriter.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hr {

namespace {

// Whether what reads the rows of `table` may get them in any order.
bool is_needless(const NodePtr& table, const PlanNodes& nodes) {
  std::vector<const Node*> stack{table.get()};
  std::unordered_set<const Node*> seen{table.get()};
  while (!stack.empty()) {
    const Node* const node = stack.back();
    stack.pop_back();
    const std::span<const Node* const> users = nodes.users(node);
    if (nodes.is_root(node) || users.empty()) return false;
    for (const Node* user : users) {
      const Node::Fields& fields = user->fields();
      if (fields.kind() == NodeKind::kReduction || fields.op->ignores_order()) continue;
      const bool has_its_rows = fields.kind() == NodeKind::kPart ||
                                fields.lineage() == RowLineage::kFiltered || is_row_by_row(*user);
      if (!has_its_rows) return false;
      if (seen.insert(user).second) stack.push_back(user);
    }
  }
  return true;
}

}  // namespace

void advise_on_order(const PlanNodes& nodes) {
  for (const NodePtr& node : nodes.order())
    if (node->kind() == NodeKind::kTable && node->fields().table().sorts_rows() &&
        is_needless(node, nodes))
      give_advice(node->tag(), "redundant sort: no consumer depends on the row order; remove it");
}

namespace {

/// The right side of a join, made again of a table in any order.
class JoinSide {
 public:
  JoinSide(const NodePtr& join, const PlanNodes& nodes) : join_(join), nodes_(nodes) {}

  bool run() {
    const std::vector<RowSource>& sources = join_->fields().table().sources;
    // Each left row has one match at most, so that the order of the right ones shows nowhere.
    if (sources.size() != 2 || !sources[0].once || sources[0].optional) return false;
    std::vector<NodePtr>& inputs = join_->fields().inputs;
    for (const int64_t place : sources[1].inputs)
      if (!look_at(inputs[static_cast<size_t>(place)])) return false;
    if (!table_ || !is_read_here_alone()) return false;
    const NodePtr made = table_->fields().table().in_any_order(table_->fields().inputs);
    if (!made) return false;
    made->fields().tag = table_->tag();
    std::unordered_map<const Node*, uint64_t> domains;  // by mask
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (!inside_.contains(node.get())) return node;
      const Node::Fields& fields = node->fields();
      NodePtr other;
      if (fields.kind() == NodeKind::kPart) {
        other = table_column(made, fields.part());
      } else if (fields.lineage() == RowLineage::kFiltered) {
        const auto [domain, is_new] = domains.try_emplace(fields.inputs[1].get());
        if (is_new) domain->second = new_domain();
        const NodePtr rows = of_(fields.inputs[0]);
        Signature signature = fields.signature;
        signature.domain = domain->second;
        other = masked_rows(std::move(signature), rows, of_(fields.inputs[1]));
      }
      if (other) other->fields().tag = node->tag();
      return other;
    });
    of_ = [&](const NodePtr& node) { return over.of(node); };
    for (const int64_t place : sources[1].inputs) {
      NodePtr& input = inputs[static_cast<size_t>(place)];
      input = over.of(input);
    }
    join_->fields().is_rewritten = true;
    for (const Node* reader : sets_of_) {
      Node::Fields& fields = nodes_.order()[nodes_.place(reader)]->fields();
      for (NodePtr& input : fields.inputs)
        if (inside_.contains(input.get())) input = over.of(input);
      fields.is_rewritten = true;
    }
    return true;
  }

 private:
  // Whether a column has the rows of one table, or some of them; notes what lies between.
  bool look_at(const NodePtr& column) {
    std::vector<NodePtr> stack{column};
    while (!stack.empty()) {
      const NodePtr node = stack.back();
      stack.pop_back();
      if (node->signature().is_scalar() || inside_.contains(node.get())) continue;
      if (node->is_ready() || inside_.size() > kMostNodes) return false;
      inside_.insert(node.get());
      const Node::Fields& fields = node->fields();
      if (fields.kind() == NodeKind::kPart) {
        if (table_ && table_ != fields.inputs[0]) return false;
        table_ = fields.inputs[0];
        if (table_->is_ready()) return false;
        continue;
      }
      if (fields.lineage() != RowLineage::kFiltered &&
          (!is_row_by_row(*node) || row_inputs(*node) < fields.inputs.size()))
        return false;
      count_visits(static_cast<int64_t>(fields.inputs.size()));
      stack.insert(stack.end(), fields.inputs.begin(), fields.inputs.end());
    }
    return true;
  }

  // Whether a test compares its values with the set of these rows.
  static bool is_set_of(const Node* user, const Node* node) {
    const Node::Fields& fields = user->fields();
    if (!predicate_of(fields)) return false;
    const size_t end = fields.inputs.size() - is_masked(fields);
    for (size_t i = 0; i < fields.inputs.size(); ++i)
      if (fields.inputs[i].get() == node && (i < row_inputs(*user) || i >= end)) return false;
    return true;
  }

  bool is_read_here_alone() {
    const auto are_known = [&](const Node* node) {
      return std::ranges::all_of(nodes_.users(node), [&](const Node* user) {
        if (user == join_.get() || inside_.contains(user)) return true;
        if (!is_set_of(user, node)) return false;
        sets_of_.insert(user);
        return true;
      });
    };
    return !nodes_.is_root(table_.get()) && are_known(table_.get()) &&
           std::ranges::all_of(
               inside_, [&](const Node* node) { return !nodes_.is_root(node) && are_known(node); });
  }

  static constexpr size_t kMostNodes = 200;  // bounds the time

  NodePtr join_;
  const PlanNodes& nodes_;
  NodePtr table_{};
  std::unordered_set<const Node*> inside_{};
  std::unordered_set<const Node*> sets_of_{};  // tests that look up these rows
  std::function<NodePtr(const NodePtr&)> of_{};
};

}  // namespace

bool drop_order(const PlanNodes& nodes) {
  return std::ranges::any_of(nodes.order(), [&](const NodePtr& node) {
    const TableFields* const own = node->fields().of_table.get();
    return node->kind() == NodeKind::kTable && !node->is_ready() &&
           !(own && own->state && own->state->has_run) && JoinSide(node, nodes).run();
  });
}

}  // namespace hr
