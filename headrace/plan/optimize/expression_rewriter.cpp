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
  if (fields.operation() == Op::kPower && fields.signature.dtype.is_integer()) return false;
  return fields.lineage() == RowLineage::kRowwise || fields.lineage() == RowLineage::kSame;
}

size_t row_inputs(const Node& node) {
  const Node::Fields& fields = node.fields();
  return fields.lineage() == RowLineage::kRowwise ? static_cast<size_t>(fields.op->rowwise_inputs())
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
  if (fields.lineage() == RowLineage::kSame) return inputs[0];
  if (fields.op->constant()) return repeat(inputs[0], *fields.op->constant());
  if (fields.kind() == NodeKind::kElementwise)
    return fields.operation() == Op::kCast ? cast(inputs[0], fields.signature.dtype)
                                           : elementwise(fields.operation(), std::move(inputs));
  Signature signature = signature_over(fields.signature, std::span(inputs).first(row_inputs(node)));
  return apply_operator(fields.op, std::move(signature), std::move(inputs));
}

NodePtr remade_operator(const Node& node, std::vector<NodePtr> inputs) {
  Signature signature = node.fields().signature;
  signature.shape[0] = kUnknown;
  signature.domain = new_domain();
  return apply_operator(node.fields().op, std::move(signature), std::move(inputs));
}

std::string expression_text(const NodePtr& node, int depth) {
  const Node::Fields& fields = node->fields();
  if (node->is_ready()) {
    if (const auto* scalar = std::get_if<Scalar>(&node->value())) return number_text(*scalar);
    return node->detail().empty() ? node->op() : node->detail();
  }
  if (fields.lineage() == RowLineage::kSame && !fields.inputs.empty())
    return expression_text(fields.inputs[0], depth);
  const bool is_part = fields.kind() == NodeKind::kPart || fields.inputs.empty();
  if (is_part) return node->detail().empty() ? node->op() : node->detail();
  if (depth == 0) return "...";
  std::vector<std::string> operands;
  for (const NodePtr& input : fields.inputs) operands.push_back(expression_text(input, depth - 1));
  if (fields.kind() == NodeKind::kElementwise && operands.size() == 2)
    if (const std::string_view symbol = op_row(fields.operation()).symbol; !symbol.empty())
      return "(" + operands[0] + " " + std::string(symbol) + " " + operands[1] + ")";
  std::string text = node->op();
  if (!node->detail().empty()) text += " [" + node->detail() + "]";
  for (size_t i = 0; i < operands.size(); ++i) text += (i ? ", " : "(") + operands[i];
  return text + ")";
}

}  // namespace hr
