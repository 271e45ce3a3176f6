// SPDX-License-Identifier: Apache-2.0
// What the bounds of columns tell of a test of their rows.
#include "headrace/plan/optimize/zone_map.h"

#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/optimize/expression_rewriter.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hr {

namespace {

/// Values that lie between two, by group; null nodes where nothing is known.
struct Range {
  NodePtr least{};
  NodePtr most{};
  NodePtr has_values{};  // some are not null; null: it is a constant
  bool may_be_nan = false;

  explicit operator bool() const { return least != nullptr; }
};

struct Known {
  Range range{};
  NodePtr has_nulls{};
};

NodePtr compare(Op op, const NodePtr& a, const NodePtr& b) {
  return elementwise(op, {a, b});
}

// Null nodes are "unknown", which no other condition decides.
NodePtr both(const NodePtr& a, const NodePtr& b) {
  return a && b ? elementwise(Op::kBitwiseAnd, {a, b}) : a ? a : b;
}

NodePtr either(const NodePtr& a, const NodePtr& b) {
  return a && b ? elementwise(Op::kBitwiseOr, {a, b}) : nullptr;
}

// Whether a greater value never becomes a lesser one.
bool keeps_order(Dtype from, Dtype to) {
  const bool from_number = from.is_number();
  return from_number &&
         (to.is_floating() || (to.is_integer() && !from.is_floating() && promote(from, to) == to));
}

bool is_scalar_nan(const NodePtr& node) {
  const auto* scalar = node->is_ready() ? std::get_if<Scalar>(&node->value()) : nullptr;
  return !scalar || scalar->is_null() || std::isnan(scalar->as<double>());
}

class Bounds {
 public:
  explicit Bounds(std::unordered_map<const Node*, Known> known,
                  std::unordered_map<const Node*, NodePtr> others)
      : known_(std::move(known)), others_(std::move(others)) {}

  // Whether the test may be `wanted` of some row of a group; a null node: unknown.
  NodePtr may_be(bool wanted, const NodePtr& test) {
    const Node::Fields& fields = test->fields();
    if (const auto it = known_.find(test.get()); it != known_.end()) {
      const Range& own = it->second.range;
      if (!own) return nullptr;
      return both(wanted ? own.most : elementwise(Op::kLogicalNot, {own.least}), own.has_values);
    }
    if (test->is_ready() || fields.inputs.empty()) return nullptr;
    if (is_masked(fields)) {
      const NodePtr where = may_be(wanted, fields.inputs.back()), own = of_operator(wanted, fields);
      return wanted ? both(where, own) : either(where, own);
    }
    if (fields.kind() == NodeKind::kOperator) return of_operator(wanted, fields);
    return fields.kind() == NodeKind::kElementwise ? of_elementwise(wanted, fields) : nullptr;
  }

 private:
  NodePtr of_operator(bool wanted, const Node::Fields& fields) {
    const PredicatePtr test = predicate_of(fields);
    const Operator& op = test ? *test : *fields.op;
    const Range range = wanted ? range_of(fields.inputs[0]) : Range{};
    if (!range) return nullptr;
    // What the test reads in addition to the column, as it is now.
    std::vector<NodePtr> inputs = fields.inputs;
    for (NodePtr& input : inputs)
      if (const auto it = others_.find(input.get()); it != others_.end()) input = it->second;
    const NodePtr found = op.may_be_true(inputs, range.least, range.most);
    return found ? both(found, range.has_values) : nullptr;
  }

  NodePtr of_elementwise(bool wanted, const Node::Fields& fields) {
    const auto& inputs = fields.inputs;
    switch (fields.operation()) {
      case Op::kLogicalNot:
      case Op::kInvert:
        return may_be(!wanted, inputs[0]);
      case Op::kLogicalAnd:
      case Op::kBitwiseAnd:
        return wanted ? both(may_be(true, inputs[0]), may_be(true, inputs[1]))
                      : either(may_be(false, inputs[0]), may_be(false, inputs[1]));
      case Op::kLogicalOr:
      case Op::kBitwiseOr:
        return wanted ? either(may_be(true, inputs[0]), may_be(true, inputs[1]))
                      : both(may_be(false, inputs[0]), may_be(false, inputs[1]));
      case Op::kIsNull:
        return of_null_test(wanted, inputs[0]);
      case Op::kFillNull:
        return of_filled(wanted, inputs[0], inputs[1]);
      default:
        if (op_row(fields.operation()).rule != OpRule::kCompare) return nullptr;
        return of_comparison(wanted, fields.operation(), range_of(inputs[0]), range_of(inputs[1]));
    }
  }

  NodePtr of_null_test(bool wanted, const NodePtr& input) {
    NodePtr node = input;
    while (!known_.contains(node.get()) && node->kind() == NodeKind::kOperator &&
           node->fields().op->is_monotonic())
      node = NodePtr(node->fields().inputs[0]);
    const auto it = known_.find(node.get());
    if (it == known_.end()) return nullptr;
    return wanted ? it->second.has_nulls : it->second.range.has_values;
  }

  NodePtr of_filled(bool wanted, const NodePtr& test, const NodePtr& filling) {
    const std::optional<Scalar> value = constant_of(filling);
    if (!value || value->is_null()) return nullptr;
    const NodePtr own = may_be(wanted, test);
    return value->as<bool>() == wanted ? either(own, may_be_null(test)) : own;
  }

  // Whether a comparison or test may be null in some row of a group.
  NodePtr may_be_null(const NodePtr& test) {
    NodePtr found;
    for (const NodePtr& input : test->fields().inputs) {
      if (input->signature().is_scalar()) continue;
      const NodePtr nulls = of_null_test(true, input);
      if (!nulls) return nullptr;
      found = found ? either(found, nulls) : nulls;
    }
    return found;
  }

  NodePtr of_comparison(bool wanted, Op op, const Range& a, const Range& b) {
    if (!a || !b) return nullptr;
    // Of NaN all comparisons are false but this one.
    const bool nan_is = op == Op::kNotEqual;
    const NodePtr has_values = both(a.has_values, b.has_values);
    if ((a.may_be_nan || b.may_be_nan) && wanted == nan_is) return has_values;
    const auto with_b = [&b](Op each, const NodePtr& bound) -> NodePtr {
      if (each == Op::kNotEqual)
        return either(compare(Op::kNotEqual, bound, b.least),
                      compare(Op::kNotEqual, bound, b.most));
      const bool is_less = each == Op::kLess || each == Op::kLessEqual;
      return compare(each, bound, is_less ? b.most : b.least);
    };
    const NodePtr found = may_compare(wanted ? op : op_row(op).negated, a.least, a.most, with_b);
    return both(found, has_values);
  }

  Range range_of(const NodePtr& node) {
    if (const auto it = known_.find(node.get()); it != known_.end()) return it->second.range;
    const bool floats = node->signature().dtype.is_floating();
    NodePtr constant = node->is_ready() ? node : nullptr;
    if (const auto it = others_.find(node.get()); it != others_.end()) constant = it->second;
    if (constant) {
      if (!constant->signature().is_scalar()) return {};
      return {constant, constant, nullptr, floats && is_scalar_nan(constant)};
    }
    const Node::Fields& fields = node->fields();
    const bool is_cast = fields.operation() == Op::kCast;
    if (!fields.op->is_monotonic() &&
        !(is_cast && keeps_order(fields.inputs[0]->signature().dtype, fields.signature.dtype)))
      return {};
    Range range = range_of(fields.inputs[0]);
    if (!range) return {};
    range.least = remade_by_row(*node, {range.least});
    range.most = remade_by_row(*node, {range.most});
    return range;
  }

  std::unordered_map<const Node*, Known> known_;  // of columns
  std::unordered_map<const Node*, NodePtr> others_;
};

}  // namespace

NodePtr may_compare(Op op, const NodePtr& least, const NodePtr& most,
                    const std::function<NodePtr(Op, const NodePtr&)>& compare) {
  switch (op) {
    case Op::kEqual:
      return both(compare(Op::kLessEqual, least), compare(Op::kGreaterEqual, most));
    case Op::kNotEqual:
      return either(compare(Op::kNotEqual, least), compare(Op::kNotEqual, most));
    case Op::kLess:
    case Op::kLessEqual:
      return compare(op, least);
    default:
      return compare(op, most);
  }
}

std::vector<bool> prune_row_groups(std::span<const std::shared_ptr<const RowPredicate>> predicates,
                                   const Column& rows,
                                   const std::function<ColumnBounds(int64_t)>& bounds,
                                   std::span<const Value> others) {
  const uint64_t domain = new_domain();
  const NodePtr row_counts = lazy_value(rows, {}, domain);
  std::unordered_map<int64_t, Known> columns;
  size_t next = 0;
  NodePtr all;
  for (const auto& each : predicates) {
    std::unordered_map<const Node*, Known> known;
    std::unordered_map<const Node*, NodePtr> given;
    for (size_t i = 0; i < each->columns_in_.size(); ++i) {
      Known& column = columns[each->columns_[i]];
      if (!column.has_nulls) {
        const ColumnBounds found = bounds(each->columns_[i]);
        const NodePtr nulls = lazy_value(found.nulls, {}, domain);
        column = {.range = {.least = lazy_value(found.least, {}, domain),
                            .most = lazy_value(found.most, {}, domain),
                            .has_values = compare(Op::kLess, nulls, row_counts),
                            .may_be_nan = found.least.dtype().is_floating()},
                  .has_nulls = compare(Op::kGreater, nulls, literal(Scalar::weak(int64_t{0})))};
      }
      known.emplace(each->columns_in_[i].get(), column);
    }
    for (const NodePtr& stands : each->others_in_)
      given.emplace(stands.get(), lazy_value(others[next++]));
    all = both(all, Bounds(std::move(known), std::move(given)).may_be(true, each->test_));
  }
  std::vector<bool> result(static_cast<size_t>(rows.num_rows()), true);
  if (!all) return result;
  const auto found = std::get<Column>(execute_nested(all));
  for (int64_t group = 0; group < rows.num_rows(); ++group)
    result[static_cast<size_t>(group)] = found.is_null(group) || found.bit(group);
  return result;
}

}  // namespace hr
