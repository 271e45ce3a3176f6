// SPDX-License-Identifier: Apache-2.0
// Sorted rows of which the order does not matter.
#include "headrace/plan/optimize/redundant_sort.h"

#include "headrace/memory/log/advice.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/expression_rewriter.h"

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

}  // namespace hr
