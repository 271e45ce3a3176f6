// SPDX-License-Identifier: Apache-2.0
// Expressions over the rows of one table, made again over other rows.
#include "headrace/plan/optimize/expression_rewriter.h"

#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/node_fields.h"

#include <charconv>

namespace hr {

namespace {

// The signature over the rows of the inputs.
Signature signature_over(Signature signature, std::span<const NodePtr> inputs) {
  for (const NodePtr& input : inputs) {
    const Signature& own = input->signature();
    if (own.shape.empty()) continue;
    signature.shape[0] = own.rows();
    signature.domain = own.domain;
    break;
  }
  return signature;
}

std::string number_text(const Scalar& scalar) {
  if (scalar.is_null()) return "null";
  if (scalar.dtype().is_bool()) return scalar.as<bool>() ? "true" : "false";
  if (!scalar.dtype().is_real()) return "scalar";
  char text[32];
  return visit_real(scalar.dtype(), [&]<class T>(std::type_identity<T>) {
    return std::string(text, std::to_chars(text, text + sizeof text, scalar.as<T>()).ptr);
  });
}

}  // namespace

bool is_row_by_row(const Node& node) {
  const Node::Fields& fields = node.fields();
  // A negative power of an integer is an error, which a row that is not there must not raise.
  const bool may_fail = fields.operation == Op::kPower && fields.signature.dtype.is_integer();
  return (fields.kind == NodeKind::kElementwise && !may_fail) || fields.renames ||
         fields.traits.row_inputs > 0;
}

size_t row_inputs(const Node& node) {
  const Node::Fields& fields = node.fields();
  return fields.traits.row_inputs > 0 ? static_cast<size_t>(fields.traits.row_inputs)
                                      : fields.inputs.size();
}

NodePtr RowClone::of(const NodePtr& node) {
  if (const auto it = made_.find(node.get()); it != made_.end()) return it->second;
  NodePtr result = leaf_(node);
  if (!result) {
    const ScopedTag tag(node->tag());  // what is made of known values may be an older node
    result = make(node);
  }
  made_.emplace(node.get(), result);
  return result;
}

NodePtr RowClone::make(const NodePtr& node) {
  std::vector<NodePtr> inputs;
  for (const NodePtr& input : node->fields().inputs) inputs.push_back(of(input));
  return remade_by_row(*node, std::move(inputs));
}

NodePtr remade_by_row(const Node& node, std::vector<NodePtr> inputs) {
  const Node::Fields& fields = node.fields();
  if (fields.renames) return inputs[0];
  if (fields.constant && fields.traits.row_inputs > 0)
    return repeat_node(inputs[0], *fields.constant);
  if (fields.kind == NodeKind::kElementwise)
    return fields.operation == Op::kCast ? cast_node(inputs[0], fields.signature.dtype)
                                         : elementwise_node(fields.operation, std::move(inputs));
  const Signature signature = signature_over(
      fields.signature, std::span(inputs).first(static_cast<size_t>(fields.traits.row_inputs)));
  if (fields.test) {
    NodePtr where;
    if (fields.masked) {
      where = inputs.back();
      inputs.pop_back();
    }
    return with_bounds(test_node(fields.op, fields.detail, signature, std::move(inputs),
                                 fields.test, fields.traits, where),
                       fields.may_be_true);
  }
  NodePtr made = with_bounds(
      with_traits(operator_node(fields.op, fields.detail, signature, std::move(inputs),
                                fields.passes, fields.run, fields.choice, fields.has_kernels),
                  fields.traits),
      fields.may_be_true);
  return fields.keeps_order ? keeping_order(std::move(made)) : made;
}

NodePtr remade_operator(const Node& node, std::vector<NodePtr> inputs) {
  const Node::Fields& fields = node.fields();
  Signature signature = fields.signature;
  signature.shape[0] = kUnknown;
  signature.domain = new_domain();
  return with_traits(
      operator_node(fields.op, fields.detail, std::move(signature), std::move(inputs),
                    fields.passes, fields.run, fields.choice, fields.has_kernels),
      fields.traits);
}

std::string expression_text(const NodePtr& node, int depth) {
  const Node::Fields& fields = node->fields();
  if (node->is_ready()) {
    if (const auto* scalar = std::get_if<Scalar>(&node->value())) return number_text(*scalar);
    return node->detail().empty() ? node->op() : node->detail();
  }
  if (fields.renames && !fields.inputs.empty()) return expression_text(fields.inputs[0], depth);
  const bool is_part = fields.kind == NodeKind::kPart || fields.inputs.empty();
  if (is_part) return node->detail().empty() ? node->op() : node->detail();
  if (depth == 0) return "...";
  std::vector<std::string> operands;
  for (const NodePtr& input : fields.inputs) operands.push_back(expression_text(input, depth - 1));
  if (fields.kind == NodeKind::kElementwise && operands.size() == 2)
    if (const std::string_view symbol = op_row(fields.operation).symbol; !symbol.empty())
      return "(" + operands[0] + " " + std::string(symbol) + " " + operands[1] + ")";
  std::string text = node->op();
  if (!node->detail().empty()) text += " [" + node->detail() + "]";
  for (size_t i = 0; i < operands.size(); ++i) text += (i ? ", " : "(") + operands[i];
  return text + ")";
}

}  // namespace hr
