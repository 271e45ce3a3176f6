// SPDX-License-Identifier: Apache-2.0
// Keys that a join wants, told to what makes one of its sides.
#include "headrace/plan/optimize/semi_join_pushdown.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/filter_consumers.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace hr {

namespace {

constexpr int kDeepest = 16;  // joins between a join and the rows that it tells: bounds the time

// Rows that are matched already stay.
bool may_change(const Node::Fields& join) {
  const TableFields* const own = join.of_table.get();
  return own && !own->join_keys.empty() && !(own->state && own->state->has_run);
}

// The table that a pending part is of; null for others.
NodePtr table_of(const NodePtr& node) {
  if (node->is_ready() || node->kind() != NodeKind::kPart) return nullptr;
  const NodePtr& table = node->fields().inputs[0];
  return table->is_ready() ? nullptr : table;
}

/// What one side of a join is made of, and how it is made of fewer rows.
class Side {
 public:
  explicit Side(const PlanNodes& nodes) : nodes_(nodes) {}

  /// Rows of which those with unwanted keys would go; nothing where `key` is of no such table.
  std::optional<int64_t> rows(const NodePtr& key, const Node& reader, int depth = 0) const {
    const NodePtr table = table_of(key);
    if (!table || !serves_only(table, reader) || !is_whole(key, table, reader)) return {};
    const Node::Fields& fields = table->fields();
    if (fields.table().takes_key_filter()) return most(fields.inputs[0]);
    const std::optional<size_t> source = source_of(fields, key->fields().part());
    if (!source) return {};
    const NodePtr& own = input_of(fields, *source, key->fields().part());
    if (depth < kDeepest)
      if (const auto deeper = rows(own, *table, depth + 1)) return deeper;
    const NodePtr pick = sole_pick(fields.table().sources[*source], fields, *table);
    return most(pick ? pick->fields().inputs[0] : own);
  }

  // The table of `key`, which `rows` has found, without rows that `values` says are not needed.
  NodePtr table(const NodePtr& key, const TableOperator& join, const NodePtr& values,
                const Node& reader, int depth = 0) const {
    const NodePtr table = table_of(key);
    const Node::Fields& fields = table->fields();
    const int64_t part = key->fields().part();
    NodePtr made;
    if (fields.table().takes_key_filter()) {
      made = fields.table().with_key_filter(fields.inputs, part, values);
    } else {
      const size_t source = *source_of(fields, part);
      std::vector<NodePtr> inputs = fields.inputs;
      const NodePtr& own = input_of(fields, source, part);
      if (depth < kDeepest && rows(own, *table, depth + 1)) {
        const NodePtr inner = this->table(own, join, values, *table, depth + 1);
        if (!inner) return nullptr;
        replace_parts(inputs, table_of(own), inner);
      } else if (!pick(fields.table().sources[source], own, join, values, *table, inputs, reader)) {
        return nullptr;
      }
      made = fields.table().with_inputs(inputs, {});
    }
    if (made) made->fields().tag = table->tag();
    return made;
  }

  static void replace_parts(std::vector<NodePtr>& inputs, const NodePtr& table,
                            const NodePtr& made) {
    for (NodePtr& input : inputs)
      if (table_of(input) == table) input = table_column(made, input->fields().part());
  }

 private:
  static int64_t most(const NodePtr& node) {
    const int64_t rows = node->signature().rows();
    return rows == kUnknown ? std::numeric_limits<int64_t>::max() : rows;
  }

  // Of a join that was not planned before (its rows are matched once): the rows that have the
  // column, all of which the join asks for.
  static std::optional<size_t> source_of(const Node::Fields& fields, int64_t part) {
    if (!may_change(fields)) return {};
    for (size_t s = 0; s < fields.table().sources.size(); ++s)
      if (const RowSource& source = fields.table().sources[s];
          !source.optional && source.columns[static_cast<size_t>(part)] >= 0)
        return s;
    return {};
  }

  static const NodePtr& input_of(const Node::Fields& fields, size_t source, int64_t part) {
    const int64_t place = fields.table().sources[source].columns[static_cast<size_t>(part)];
    return fields.inputs[static_cast<size_t>(place)];
  }

  bool is_only_read_by(const NodePtr& node, const Node& reader) const {
    const std::span<const Node* const> users = nodes_.users(node.get());
    return !nodes_.is_root(node.get()) &&
           std::all_of(users.begin(), users.end(),
                       [&](const Node* user) { return user == &reader; });
  }

  // Whether only `reader` reads of the table, and nothing but its parts.
  bool serves_only(const NodePtr& table, const Node& reader) const {
    const std::span<const Node* const> parts = nodes_.users(table.get());
    if (parts.empty() || nodes_.is_root(table.get())) return false;
    for (const Node* part : parts) {
      if (part->kind() != NodeKind::kPart || nodes_.is_root(part)) return false;
      for (const Node* user : nodes_.users(part))
        if (user != &reader) return false;
    }
    return true;
  }

  // Whether all that `reader` has of these rows is made by the table when it runs: a column that
  // ran before for another reader, or that this plan leaves out, has all rows.
  static bool is_whole(const NodePtr& key, const NodePtr& table, const Node& reader) {
    const std::vector<NodePtr>& inputs = reader.fields().inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](const NodePtr& input) {
      return table_of(input) == table || input->signature().domain != key->signature().domain;
    });
  }

  // One of the picks by one mask that no other node reads, if these are all inputs with such rows.
  NodePtr sole_pick(const RowSource& source, const Node::Fields& fields, const Node& table) const {
    NodePtr first;
    for (const int64_t place : source.inputs) {
      const NodePtr& input = fields.inputs[static_cast<size_t>(place)];
      if (input->is_ready() || input->fields().lineage() != RowLineage::kFiltered ||
          !is_only_read_by(input, table) ||
          (first && first->fields().inputs[1] != input->fields().inputs[1]))
        return nullptr;
      first = input;
    }
    return first;
  }

  // Puts fewer rows in the place of those that a source has.
  bool pick(const RowSource& source, const NodePtr& key, const TableOperator& join,
            const NodePtr& values, const Node& table, std::vector<NodePtr>& inputs,
            const Node& reader) const {
    if (!key->fields().place.is_host()) return false;  // the test has no kernel
    const Signature& rows = key->signature();
    for (const int64_t place : source.inputs) {
      const Signature& own = inputs[static_cast<size_t>(place)]->signature();
      if (own.form != Form::kColumn || own.domain != rows.domain || !own.same_rows(rows))
        return false;
    }
    // Rows that a mask picks are found where they are picked, and picked once.
    const NodePtr before = sole_pick(source, table.fields(), table);
    const auto base = [&](const NodePtr& node) { return before ? node->fields().inputs[0] : node; };
    // Of a join whose other side is there, or is read alone: what it leaves by itself.
    NodePtr first_keys, first_others;
    for (const auto& [own, other] : table.fields().of_table->join_keys) {
      const NodePtr& others = inputs[static_cast<size_t>(other)];
      if (std::find(source.inputs.begin(), source.inputs.end(), own) != source.inputs.end() &&
          !table_of(others)) {
        first_keys = base(inputs[static_cast<size_t>(own)]);
        first_others = others;
      }
    }
    NodePtr mask = join.join_filter(base(key), values, first_keys, first_others);
    if (before) mask = both_of(before->fields().inputs[1], mask);
    const uint64_t domain = new_domain();
    for (const int64_t place : source.inputs) {
      NodePtr& input = inputs[static_cast<size_t>(place)];
      input = picked_before(base(input), mask, domain, table.op(), reader.tag());
    }
    return true;
  }

  const PlanNodes& nodes_;
};

size_t side_of(const Node::Fields& join, int64_t place) {
  const std::vector<int64_t>& left = join.table().sources[0].inputs;
  return std::find(left.begin(), left.end(), place) == left.end();
}

}  // namespace

bool push_keys(const PlanNodes& nodes) {
  const std::vector<NodePtr>& order = nodes.order();
  const Side side(nodes);
  for (size_t i = order.size(); i-- > 0;) {
    Node::Fields& join = order[i]->fields();
    std::vector<NodePtr>& inputs = join.inputs;
    while (may_change(join)) {
      TableFields& known = *join.of_table;
      // Not both sides by each other, as one has to be there first: that of more rows is told.
      size_t best = 0;
      int64_t most = -1;
      for (size_t p = 0; p < known.join_keys.size(); ++p) {
        const auto [key, other] = known.join_keys[p];
        const NodePtr& own = inputs[static_cast<size_t>(key)];
        const NodePtr& values = inputs[static_cast<size_t>(other)];
        const auto rows = side.rows(own, *order[i]);
        if (!rows || *rows <= most || table_of(values) == table_of(own)) continue;
        best = p;
        most = *rows;
      }
      const auto [key, other] = known.join_keys[best];
      if (most < 0) {
        known.join_keys.clear();
        break;
      }
      known.join_keys.erase(known.join_keys.begin() + static_cast<std::ptrdiff_t>(best));
      const NodePtr own = inputs[static_cast<size_t>(key)];
      const NodePtr table = table_of(own);
      const NodePtr made =
          side.table(own, join.table(), inputs[static_cast<size_t>(other)], *order[i]);
      if (!made) continue;
      Side::replace_parts(inputs, table, made);
      known.state = join.table().new_state();
      join.is_rewritten = true;
      std::erase_if(known.join_keys, [&, side = side_of(join, key)](const auto& each) {
        return side_of(join, each.key) != side;
      });
      return true;
    }
  }
  return false;
}

}  // namespace hr
