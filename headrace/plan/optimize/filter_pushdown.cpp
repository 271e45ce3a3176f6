// SPDX-License-Identifier: Apache-2.0
// Filters moved before the tables whose rows they pick.
#include "headrace/plan/optimize/filter_pushdown.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/expression_rewriter.h"
#include "headrace/plan/optimize/filter_consumers.h"
#include "headrace/plan/optimize/filter_pushdown_concat.h"
#include "headrace/plan/optimize/scan_predicate.h"

#include <algorithm>
#include <optional>

namespace hr {

namespace {

/// Makes a table again of fewer rows.
class Push {
 public:
  Push(const NodePtr& table, const FilterReaders& readers)
      : table_(table),
        fields_(table->fields()),
        op_(table->fields().table()),
        readers_(readers),
        conditions_(readers) {}

  bool run() {
    TableFields& own = *fields_.of_table;
    NodePtr known =
        own.filtered_by == readers_.mask()->fields().structure ? own.filtered_to.lock() : nullptr;
    // A second look at other rows makes the table once, to be kept; files are read each time.
    if (!known && own.was_filtered && !op_.takes_predicates()) return false;
    const NodePtr made = op_.takes_predicates() ? read_less(known) : made_of_less(known);
    if (!made) return false;
    if (made != known) made->fields().tag = table_->tag();
    own.was_filtered = true;
    own.filtered_to = made;
    own.filtered_by = readers_.mask()->fields().structure;
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (!readers_.is_column(node)) return conditions_.contains(node) ? nullptr : node;
      NodePtr part = table_column(made, node->fields().part());
      part->fields().tag = node->tag();
      return part;
    });
    NodePtr mask;
    for (const NodePtr& condition : stay_) mask = both_of(mask, over.of(condition));
    for (const NodePtr& pick : readers_.picks())
      replace_pick(pick, over.of(pick->fields().inputs[0]), mask);
    return true;
  }

 private:
  // `known`: the table of these rows, if it was made for other columns.
  NodePtr read_less(const NodePtr& known) {
    std::vector<std::shared_ptr<const RowPredicate>> predicates;
    for (const NodePtr& condition : conditions_.all()) {
      if (conditions_.columns_of(condition).empty())
        stay_.push_back(condition);
      else
        predicates.push_back(RowPredicate::of(
            condition, table_, [this](const NodePtr& node) { return conditions_.contains(node); }));
    }
    return predicates.empty() || known ? known : op_.with_predicates(predicates);
  }

  NodePtr made_of_less(const NodePtr& known) {
    std::vector<std::vector<NodePtr>> moved(op_.sources.size());
    std::vector<bool> required(op_.sources.size());
    for (const NodePtr& condition : conditions_.all()) {
      const std::optional<size_t> to = source_of(condition);
      if (to) {
        moved[*to].push_back(condition);
        if (op_.sources[*to].optional) required[*to] = true;
      } else {
        stay_.push_back(condition);
      }
    }
    if (stay_.size() == conditions_.all().size() || known) return known;
    std::vector<NodePtr> inputs = fields_.inputs;
    for (size_t s = 0; s < moved.size(); ++s)
      if (!moved[s].empty() && !pick_before(op_.sources[s], moved[s], inputs)) return nullptr;
    return op_.with_inputs(inputs, required);
  }

  // The source that has all columns of a condition.
  std::optional<size_t> source_of(const NodePtr& condition) const {
    const std::vector<NodePtr> columns = conditions_.columns_of(condition);
    if (columns.empty()) return {};
    for (size_t s = 0; s < op_.sources.size(); ++s) {
      const RowSource& source = op_.sources[s];
      const bool has_all = std::all_of(columns.begin(), columns.end(), [&](const NodePtr& column) {
        return source.columns[static_cast<size_t>(column->fields().part())] >= 0;
      });
      if (has_all && (!source.optional || conditions_.needs_values(condition))) return s;
    }
    return {};
  }

  bool pick_before(const RowSource& source, const std::vector<NodePtr>& conditions,
                   std::vector<NodePtr>& inputs) const {
    const Signature& rows = fields_.inputs[static_cast<size_t>(source.inputs[0])]->signature();
    for (const int64_t place : source.inputs) {
      const Signature& own = fields_.inputs[static_cast<size_t>(place)]->signature();
      if (own.form != Form::kColumn || own.domain != rows.domain || !own.same_rows(rows))
        return false;
    }
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (!readers_.is_column(node)) return conditions_.contains(node) ? nullptr : node;
      const auto part = static_cast<size_t>(node->fields().part());
      return fields_.inputs[static_cast<size_t>(source.columns[part])];
    });
    NodePtr mask;
    for (const NodePtr& condition : conditions) mask = both_of(mask, over.of(condition));
    const uint64_t domain = new_domain();
    std::unordered_map<const Node*, NodePtr> picked;
    for (const int64_t place : source.inputs) {
      NodePtr& input = inputs[static_cast<size_t>(place)];
      NodePtr& made = picked[input.get()];
      if (!made)
        made = picked_before(input, mask, domain, table_->op(), readers_.picks()[0]->tag());
      input = made;
    }
    return true;
  }

  NodePtr table_;
  Node::Fields& fields_;
  const TableOperator& op_;
  const FilterReaders& readers_;
  Conditions conditions_;
  std::vector<NodePtr> stay_{};  // conditions that pick afterwards
};

}  // namespace

bool push_filter(const PlanNodes& nodes) {
  const std::vector<NodePtr>& order = nodes.order();
  for (size_t i = order.size(); i-- > 0;) {
    if (order[i]->kind() != NodeKind::kTable) continue;
    const TableOperator& op = order[i]->fields().table();
    if (!op.takes_predicates() && op.sources.empty()) continue;
    std::vector<NodePtr> columns;
    const std::span<const Node* const> users = nodes.users(order[i].get());
    bool is_read = nodes.is_root(order[i].get()) || users.empty();
    for (size_t u = 0; !is_read && u < users.size(); ++u) {
      is_read |= users[u]->kind() != NodeKind::kPart;
      columns.push_back(order[nodes.place(users[u])]);
    }
    if (is_read) continue;
    const FilterReaders readers(columns, nodes);
    if (readers && Push(order[i], readers).run()) return true;
  }
  return push_past_rows(nodes);
}

}  // namespace hr
