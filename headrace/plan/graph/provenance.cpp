// SPDX-License-Identifier: Apache-2.0
// Unions of the marks of inputs. Most nodes have none, or those of one input, which they share.
#include "headrace/plan/graph/provenance.h"

#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <iterator>

namespace hr {
namespace {

void add(Marks& to, const Marks& more) {
  if (!more || to == more) return;
  if (!to || std::ranges::includes(*more, *to)) {
    to = more;
    return;
  }
  if (std::ranges::includes(*to, *more)) return;
  auto both = std::make_shared<std::vector<uint32_t>>();
  std::ranges::set_union(*to, *more, std::back_inserter(*both));
  to = std::move(both);
}

const Marks& own(const NodePtr& node) {
  return node->fields().marks;
}

// By column: the inputs that it alone needs and those whose values it repeats; else all that every
// column needs.
std::vector<Marks> marks_of_columns(const TableOperator& table,
                                    const std::vector<NodePtr>& inputs) {
  const size_t count = table.names.size();
  std::vector<bool> is_shared(inputs.size(), true);
  for (const std::vector<int64_t>& places : table.columns_needed)
    for (const int64_t place : places) is_shared[static_cast<size_t>(place)] = false;
  Marks shared;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (is_shared[i]) add(shared, own(inputs[i]));
  std::vector<Marks> made(count);
  for (size_t column = 0; column < count; ++column) {
    bool found = false;
    const auto take = [&](int64_t place) {
      add(made[column], own(inputs[static_cast<size_t>(place)]));
      found = true;
    };
    if (column < table.columns_needed.size())
      for (const int64_t place : table.columns_needed[column]) take(place);
    for (const RowSource& source : table.sources)
      if (column < source.columns.size() && source.columns[column] >= 0)
        take(source.columns[column]);
    if (!found) made[column] = shared;
  }
  return made;
}

}  // namespace

void note_marks(Node::Fields& fields) {
  const std::vector<NodePtr>& inputs = fields.inputs;
  if (std::ranges::none_of(inputs, [](const NodePtr& input) {
        return input->fields().marks || input->kind() == NodeKind::kTable;
      }))
    return;
  switch (fields.kind()) {
    case NodeKind::kTable: {
      fields.of_table->marks = marks_of_columns(fields.table(), inputs);
      return;
    }
    case NodeKind::kPart: {
      const auto& of_columns = inputs[0]->fields().of_table->marks;
      const auto place = static_cast<size_t>(fields.part());
      if (place < of_columns.size()) fields.marks = of_columns[place];
      return;
    }
    default:
      break;
  }
  const RowLineage lineage = fields.lineage();
  const bool picks = lineage == RowLineage::kFiltered || lineage == RowLineage::kTaken;
  for (size_t i = 0; i < (picks ? 1 : inputs.size()); ++i) add(fields.marks, own(inputs[i]));
}

std::vector<uint32_t> marks_of(const NodePtr& node) {
  return own(node) ? *own(node) : std::vector<uint32_t>();
}

NodePtr with_marks(const NodePtr& node, std::vector<uint32_t> marks) {
  std::ranges::sort(marks);
  const Signature& signature = node->signature();
  NodePtr made = node->is_ready() ? lazy_value(node->value(), node->detail(), signature.domain,
                                               node->fields().live)
                                  : apply_operator(relabel_operator(), signature, {node});
  made->fields().constant = node->fields().constant;
  made->fields().unique = node->fields().unique;
  if (!marks.empty())
    made->fields().marks = std::make_shared<const std::vector<uint32_t>>(std::move(marks));
  else
    made->fields().marks = nullptr;
  return made;
}

void mark_sources(std::span<const NodePtr> nodes, uint32_t first) {
  for (const NodePtr& node : nodes) {
    node->fields().source = first;
    node->fields().marks = std::make_shared<const std::vector<uint32_t>>(1, first++);
  }
}

}  // namespace hr
