// SPDX-License-Identifier: Apache-2.0
// Groups of joined rows, aggregated before the join.
#include "headrace/plan/optimize/early_aggregation.h"

#include <algorithm>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kTimes = 4;  // right rows for each left one at least

// Rows that a column has at most; `unknown` where nothing tells.
int64_t most_rows(const NodePtr& column, int64_t unknown) {
  const Node* node = column.get();
  while (!node->is_ready() && node->signature().rows() == kUnknown &&
         node->fields().lineage() == RowLineage::kFiltered)
    node = node->fields().inputs[0].get();
  const int64_t rows = node->signature().rows();
  return rows == kUnknown ? unknown : rows;
}

// The join that all columns which a table reads are parts of, if nothing else reads them.
NodePtr sole_join(const NodePtr& table, const PlanNodes& nodes) {
  NodePtr join;
  for (const NodePtr& input : nodes.inputs(*table)) {
    if (input->is_ready() || input->kind() != NodeKind::kPart || nodes.is_root(input.get()))
      return nullptr;
    const NodePtr& of = input->fields().inputs[0];
    if (join && join != of) return nullptr;
    join = of;
  }
  if (!join || join->is_ready() || nodes.is_root(join.get())) return nullptr;
  const Node::Fields& fields = join->fields();
  if (fields.of_table->state && fields.of_table->state->has_run) return nullptr;
  for (const Node* part : nodes.users(join.get()))
    for (const Node* user : nodes.users(part))
      if (user != table.get()) return nullptr;
  return join;
}

}  // namespace

bool has_many_more_right_rows(const Node& node) {
  const Node::Fields& join = node.fields();
  const std::vector<JoinKeyPair> keys = join.table().join_keys();
  if (join.table().sources.size() != 2 || keys.empty()) return false;
  const std::vector<int64_t>& right = join.table().sources[1].inputs;
  const bool is_right = std::ranges::find(right, keys[0].key) != right.end();
  const auto at = [&](int64_t place) { return join.inputs[static_cast<size_t>(place)]; };
  const int64_t left_rows = most_rows(at(is_right ? keys[0].other : keys[0].key),
                                      std::numeric_limits<int64_t>::max() / kTimes);
  return most_rows(at(is_right ? keys[0].key : keys[0].other), 0) > kTimes * left_rows;
}

bool aggregate_early(const PlanNodes& nodes) {
  for (const NodePtr& table : nodes.order()) {
    const auto* const groups = dynamic_cast<const GroupsRows*>(table->fields().op.get());
    if (!groups || table->is_ready() || nodes.is_root(table.get())) continue;
    const NodePtr join = sole_join(table, nodes);
    if (!join || !has_many_more_right_rows(*join)) continue;
    const NodePtr made = groups->grouped_before(table->fields().inputs, *join);
    if (!made) continue;
    made->fields().tag = table->tag();
    for (const Node* part : nodes.users(table.get())) {
      Node::Fields& fields = nodes.order()[nodes.place(part)]->fields();
      fields.inputs[0] = made;
      fields.is_rewritten = true;
    }
    return true;
  }
  return false;
}

}  // namespace hr
