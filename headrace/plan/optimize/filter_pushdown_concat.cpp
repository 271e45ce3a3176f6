// SPDX-License-Identifier: Apache-2.0
// Filters moved before rows that are concatenated, or are the first of equal ones.
#include "headrace/plan/optimize/filter_pushdown_concat.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/expression_rewriter.h"
#include "headrace/plan/optimize/filter_consumers.h"

#include <algorithm>
#include <map>

namespace hr {

namespace {

using Columns = std::vector<NodePtr>;

bool is_only_read_by(const NodePtr& node, const PlanNodes& nodes, const Columns& readers) {
  std::unordered_set<const Node*> known;
  for (const NodePtr& each : readers) known.insert(each.get());
  const std::span<const Node* const> users = nodes.users(node.get());
  return !users.empty() && std::all_of(users.begin(), users.end(),
                                       [&](const Node* user) { return known.contains(user); });
}

bool have_same_rows(const NodePtr& a, const NodePtr& b) {
  const Signature &own = a->signature(), &other = b->signature();
  return own.form == Form::kColumn && other.form == Form::kColumn && own.domain == other.domain &&
         own.same_rows(other);
}

// The node that concatenates, of a column that may be it in another domain.
const NodePtr& concat_of(const NodePtr& column) {
  return column->fields().lineage() == RowLineage::kSame ? column->fields().inputs[0] : column;
}

/// One filter on some columns, and the columns that they become.
class Move {
 public:
  Move(const Columns& columns, const FilterReaders& readers)
      : columns_(columns), readers_(readers), conditions_(readers) {}

  bool before_concat() {
    const size_t parts = concat_of(columns_[0])->fields().inputs.size();
    for (const NodePtr& column : columns_) {
      const Columns &own = concat_of(column)->fields().inputs,
                    &first = concat_of(columns_[0])->fields().inputs;
      if (own.size() != parts) return false;
      for (size_t k = 0; k < parts; ++k)
        if (!have_same_rows(own[k], first[k])) return false;
    }
    for (const NodePtr& condition : conditions_.all())
      (conditions_.columns_of(condition).empty() ? stay_ : moved_).push_back(condition);
    if (moved_.empty()) return false;
    std::unordered_map<const Node*, Columns> inputs;
    for (size_t k = 0; k < parts; ++k) {
      const auto part = [k](const NodePtr& column) {
        return concat_of(column)->fields().inputs[k];
      };
      pick(part, "concat");
      for (const NodePtr& column : columns_)
        inputs[column.get()].push_back(picked_[part(column).get()]);
    }
    replace([&](const NodePtr& column) {
      return remade_operator(*concat_of(column), std::move(inputs[column.get()]));
    });
    return true;
  }

  bool before_first_of_equal(const NodePtr& positions) {
    const NodePtr table = positions->fields().inputs[0];
    const Columns keys = table->fields().inputs;
    for (const NodePtr& key : keys)
      if (!have_same_rows(key, keys[0])) return false;
    for (const NodePtr& column : columns_)
      if (!have_same_rows(column->fields().inputs[0], keys[0])) return false;
    for (const NodePtr& condition : conditions_.all()) {
      const Columns asked = conditions_.columns_of(condition);
      // Of equal floats one may be -0.0 and the other 0.0.
      const bool asks_keys =
          !asked.empty() && std::all_of(asked.begin(), asked.end(), [&](const NodePtr& column) {
            const NodePtr& values = column->fields().inputs[0];
            return !values->signature().dtype.is_floating() &&
                   std::find(keys.begin(), keys.end(), values) != keys.end();
          });
      (asks_keys ? moved_ : stay_).push_back(condition);
    }
    if (moved_.empty()) return false;
    const auto source = [](const NodePtr& column) { return column->fields().inputs[0]; };
    pick(source, "drop_duplicates");
    Columns own;
    for (const NodePtr& key : keys) own.push_back(picked_of_base(key));
    const NodePtr made = table->fields().table().with_inputs(own, {});
    made->fields().tag = table->tag();
    table->fields().of_table->was_filtered = true;
    const NodePtr rows = table_column(made, positions->fields().part());
    replace([&](const NodePtr& column) {
      return remade_operator(*column, {picked_[source(column).get()], rows});
    });
    return true;
  }

 private:
  // Picks rows of what `source` gives for each column.
  template <class Source>
  void pick(Source&& source, const std::string& op) {
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (readers_.is_column(node)) return source(node);
      return conditions_.contains(node) ? nullptr : node;
    });
    mask_ = nullptr;
    picked_.clear();
    for (const NodePtr& condition : moved_) mask_ = both_of(mask_, over.of(condition));
    domain_ = new_domain();
    op_ = op;
    for (const NodePtr& column : columns_) picked_of_base(source(column));
  }

  NodePtr picked_of_base(const NodePtr& rows) {
    NodePtr& made = picked_[rows.get()];
    if (!made) made = picked_before(rows, mask_, domain_, op_, readers_.picks()[0]->tag());
    return made;
  }

  // Makes the picks those of new columns, which `make` gives.
  template <class Make>
  void replace(Make&& make) {
    const uint64_t domain = new_domain();
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (!readers_.is_column(node)) return conditions_.contains(node) ? nullptr : node;
      const NodePtr column = make(node);
      column->fields().tag = node->tag();
      return in_domain(column, domain);
    });
    NodePtr mask;
    for (const NodePtr& condition : stay_) mask = both_of(mask, over.of(condition));
    for (const NodePtr& each : readers_.picks())
      replace_pick(each, over.of(each->fields().inputs[0]), mask);
  }

  const Columns& columns_;
  const FilterReaders& readers_;
  Conditions conditions_;
  Columns moved_{};
  Columns stay_{};
  NodePtr mask_{};
  uint64_t domain_ = 0;
  std::string op_{};
  std::unordered_map<const Node*, NodePtr> picked_{};
};

}  // namespace

bool push_past_rows(const PlanNodes& nodes) {
  std::map<uint64_t, Columns> joined;               // by row domain
  std::unordered_map<const Node*, Columns> firsts;  // by the rows' positions
  for (const NodePtr& node : nodes.order()) {
    const Node::Fields& fields = node->fields();
    if (fields.lineage() == RowLineage::kSame && !fields.inputs[0]->is_ready() &&
        fields.inputs[0]->fields().lineage() == RowLineage::kConcatenated &&
        !nodes.is_root(fields.inputs[0].get()) && is_only_read_by(fields.inputs[0], nodes, {node}))
      joined[node->signature().domain].push_back(node);
    if (fields.lineage() == RowLineage::kTaken && !fields.inputs[1]->is_ready())
      firsts[fields.inputs[1].get()].push_back(node);
  }
  for (const auto& [domain, columns] : joined) {
    const FilterReaders readers(columns, nodes);
    if (readers && Move(columns, readers).before_concat()) return true;
  }
  for (const auto& [node, columns] : firsts) {
    const NodePtr positions = columns[0]->fields().inputs[1];
    if (positions->kind() != NodeKind::kPart || nodes.is_root(node) ||
        !is_only_read_by(positions, nodes, columns))
      continue;
    const NodePtr table = positions->fields().inputs[0];
    // A second look makes the rows once, to be kept.
    if (table->is_ready() || table->fields().of_table->was_filtered ||
        !table->fields().table().finds_first_rows() || nodes.is_root(table.get()) ||
        !is_only_read_by(table, nodes, {positions}))
      continue;
    const FilterReaders readers(columns, nodes);
    if (readers && Move(columns, readers).before_first_of_equal(positions)) return true;
  }
  return false;
}

}  // namespace hr
