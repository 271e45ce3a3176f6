// SPDX-License-Identifier: Apache-2.0
// A test of rows that are not there yet.
#include "headrace/plan/optimize/scan_predicate.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/expression_rewriter.h"

#include <unordered_map>

namespace hr {

namespace {

// Stands for a value in an expression that never runs.
struct StandIn final : Operator {
  explicit StandIn(std::string of) : text(std::move(of)) {}

  std::string_view name() const override { return "column"; }

  std::string arguments() const override { return text; }

  Value execute(std::span<const Value>) const override {
    throw_error<InternalError>(name(), "a stand-in is not evaluated");
  }

  std::string text;
};

NodePtr stand_in(const NodePtr& node, uint64_t domain) {
  Signature signature = node->signature();
  if (domain != 0) signature.domain = domain;
  return apply_operator(std::make_shared<StandIn>(node->detail()), std::move(signature), {});
}

}  // namespace

std::shared_ptr<const RowPredicate> RowPredicate::of(
    const NodePtr& test, const NodePtr& table,
    const std::function<bool(const NodePtr&)>& is_inside) {
  auto made = std::make_shared<RowPredicate>();
  const uint64_t domain = new_domain();
  made->text_ = expression_text(test);
  RowClone over([&](const NodePtr& node) -> NodePtr {
    const Node::Fields& fields = node->fields();
    if (!node->is_ready() && fields.kind() == NodeKind::kPart && fields.inputs[0] == table) {
      made->columns_.push_back(fields.part());
      made->columns_in_.push_back(stand_in(node, domain));
      return made->columns_in_.back();
    }
    if (is_inside(node)) return nullptr;
    if (node->is_ready() && std::holds_alternative<Scalar>(node->value())) return node;
    made->others_.push_back(node);
    made->others_in_.push_back(stand_in(node, 0));
    return made->others_in_.back();
  });
  made->test_ = over.of(test);
  return made;
}

std::string where_text(const RowPredicates& predicates) {
  std::string text;
  for (const auto& each : predicates) text += (text.empty() ? " where " : " and ") + each->text();
  return text;
}

std::vector<NodePtr> inputs_of(const RowPredicates& predicates) {
  std::vector<NodePtr> inputs;
  for (const auto& each : predicates)
    inputs.insert(inputs.end(), each->others().begin(), each->others().end());
  return inputs;
}

RowPredicates both_of(RowPredicates some, const RowPredicates& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

int64_t guess_passing(int64_t rows, size_t conditions) {
  for (size_t i = 0; i < conditions && rows > 0; ++i) rows = (rows + 2) / 3;
  return rows;
}

Column evaluate_predicates(std::span<const std::shared_ptr<const RowPredicate>> predicates,
                           const std::function<Column(int64_t)>& column,
                           std::span<const Value> others) {
  const uint64_t domain = new_domain();
  std::unordered_map<int64_t, NodePtr> columns;
  size_t next = 0;
  NodePtr all;
  for (const auto& each : predicates) {
    std::unordered_map<const Node*, NodePtr> given;
    for (size_t i = 0; i < each->columns_in_.size(); ++i) {
      NodePtr& node = columns[each->columns_[i]];
      if (!node) node = lazy_value(column(each->columns_[i]), {}, domain);
      given.emplace(each->columns_in_[i].get(), node);
    }
    for (const NodePtr& stands : each->others_in_)
      given.emplace(stands.get(), lazy_value(others[next++]));
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (const auto it = given.find(node.get()); it != given.end()) return it->second;
      return node->is_ready() ? node : nullptr;
    });
    const NodePtr test = over.of(each->test_);
    all = all ? elementwise(Op::kBitwiseAnd, {all, test}) : test;
  }
  return std::get<Column>(execute_nested(all));
}

}  // namespace hr
