// SPDX-License-Identifier: Apache-2.0
// Who reads some rows, and what a filter of them asks.
#include "headrace/plan/optimize/filter_consumers.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/expression_rewriter.h"

#include <algorithm>
#include <set>

namespace hr {

namespace {

constexpr size_t kMostNodes = 2000;  // bounds the recursion and the time

// Whether two conditions on rows have to be true.
bool is_and(const Node::Fields& fields) {
  return fields.kind() == NodeKind::kElementwise &&
         (fields.operation() == Op::kLogicalAnd || fields.operation() == Op::kBitwiseAnd) &&
         std::all_of(fields.inputs.begin(), fields.inputs.end(), [](const NodePtr& input) {
           return input->signature().dtype.is_bool() && !input->signature().is_scalar();
         });
}

// Whether an operation of null is null.
bool keeps_null(Op op, Dtype dtype) {
  switch (op) {
    case Op::kIsNull:
    case Op::kFillNull:
    case Op::kWhere:
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
      return false;
    case Op::kBitwiseAnd:
    case Op::kBitwiseOr:
      return !dtype.is_bool();
    default:
      return true;
  }
}

}  // namespace

FilterReaders::FilterReaders(std::span<const NodePtr> columns, const PlanNodes& nodes)
    : nodes_(nodes) {
  std::set<size_t> places;  // of what reads the rows, inputs before users
  const auto look_at_users = [&](const Node* node) {
    for (const Node* user : nodes.users(node)) places.insert(nodes.place(user));
  };
  for (const NodePtr& column : columns) columns_.insert(column.get());
  inside_ = columns_;
  for (const NodePtr& column : columns) look_at_users(column.get());
  while (!places.empty() && fits_ && inside_.size() < kMostNodes) {
    const NodePtr& node = nodes.order()[*places.begin()];
    places.erase(places.begin());
    if (is_column(node)) continue;
    add(node);
    if (contains(node)) look_at_users(node.get());
  }
  fits_ = fits_ && mask_ && inside_.size() < kMostNodes &&
          std::none_of(
              inside_.begin(), inside_.end(), [this](const Node* node) { return is_read(node); });
}

void FilterReaders::add(const NodePtr& node) {
  const Node::Fields& fields = node->fields();
  const auto& inputs = fields.inputs;
  const auto in = [this](const NodePtr& each) { return contains(each); };
  // Who of a table's inputs is read, the users tell.
  if (fields.kind() == NodeKind::kTable || std::none_of(inputs.begin(), inputs.end(), in)) return;
  if (fields.lineage() == RowLineage::kFiltered) {
    fits_ = in(inputs[0]) && in(inputs[1]) && (!mask_ || mask_ == inputs[1]);
    mask_ = inputs[1];
    picks_.push_back(node);
    pick_set_.insert(node.get());
    return;
  }
  const size_t rows = row_inputs(*node);
  fits_ = is_row_by_row(*node);
  for (size_t i = 0; i < inputs.size() && fits_; ++i) {
    const bool by_row = i < rows || (is_masked(fields) && i + 1 == inputs.size());
    fits_ = by_row ? in(inputs[i]) || inputs[i]->signature().is_scalar() : !in(inputs[i]);
  }
  inside_.insert(node.get());
}

// Whether another node reads this one.
bool FilterReaders::is_read(const Node* node) const {
  if (nodes_.is_root(node)) return true;
  const std::span<const Node* const> users = nodes_.users(node);
  return std::any_of(users.begin(), users.end(), [this](const Node* user) {
    return !inside_.contains(user) && !pick_set_.contains(user);
  });
}

Conditions::Conditions(const FilterReaders& readers) : readers_(readers) {
  std::vector<NodePtr> stack{readers.mask()};
  while (!stack.empty()) {
    const NodePtr node = stack.back();
    stack.pop_back();
    const Node::Fields& fields = node->fields();
    if (node->is_ready() || readers.is_column(node)) {
      all_.push_back(node);
    } else if (is_and(fields)) {
      stack.push_back(fields.inputs[1]);
      stack.push_back(fields.inputs[0]);
    } else if (fields.lineage() == RowLineage::kSame) {
      stack.push_back(fields.inputs[0]);
    } else if (is_masked(fields)) {
      std::vector<NodePtr> inputs(fields.inputs.begin(), fields.inputs.end() - 1);
      all_.push_back(apply_predicate(predicate_of(fields), fields.signature, std::move(inputs)));
      all_.back()->fields().tag = node->tag();
      made_.insert(all_.back().get());
      stack.push_back(fields.inputs.back());
    } else {
      all_.push_back(node);
    }
  }
}

std::vector<NodePtr> Conditions::columns_of(const NodePtr& condition) const {
  std::vector<NodePtr> columns, stack{condition};
  std::unordered_set<const Node*> seen;
  while (!stack.empty()) {
    const NodePtr node = stack.back();
    stack.pop_back();
    if (!seen.insert(node.get()).second) continue;
    if (readers_.is_column(node)) {
      columns.push_back(node);
    } else if (contains(node)) {
      const auto& inputs = node->fields().inputs;
      stack.insert(stack.end(), inputs.begin(), inputs.end());
    }
  }
  return columns;
}

bool Conditions::needs_values(const NodePtr& condition) const {
  if (readers_.is_column(condition)) return true;
  if (!contains(condition)) return false;
  const Node::Fields& fields = condition->fields();
  if (fields.lineage() == RowLineage::kSame) return needs_values(fields.inputs[0]);
  return fields.kind() == NodeKind::kElementwise &&
         keeps_null(fields.operation(), fields.signature.dtype) &&
         std::any_of(fields.inputs.begin(), fields.inputs.end(),
                     [this](const NodePtr& input) { return needs_values(input); });
}

NodePtr both_of(const NodePtr& a, const NodePtr& b) {
  return a ? elementwise(Op::kBitwiseAnd, {a, b}) : b;
}

NodePtr picked_before(const NodePtr& rows, const NodePtr& mask, uint64_t domain,
                      const std::string& op, Tag tag) {
  Signature signature = rows->signature();
  signature.shape[0] = kUnknown;
  signature.domain = domain;
  NodePtr made = masked_rows(std::move(signature), rows, mask, "mask, before " + op);
  made->fields().tag = tag;
  return made;
}

void replace_pick(const NodePtr& pick, const NodePtr& rows, const NodePtr& mask) {
  Node::Fields& fields = pick->fields();
  fields.is_rewritten = true;
  if (mask) {
    fields.inputs = {rows, mask};
    return;
  }
  fields.inputs = {rows};
  fields.op = relabel_operator();
}

}  // namespace hr
