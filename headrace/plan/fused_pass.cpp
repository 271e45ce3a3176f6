// SPDX-License-Identifier: Apache-2.0
// From nodes to one program of the evaluator.
#include "headrace/plan/fused_pass.h"

#include "headrace/base/error.h"
#include "headrace/plan/evaluate.h"
#include "headrace/plan/node_fields.h"
#include "headrace/plan/placement.h"

#include <limits>
#include <unordered_map>

namespace hr {

namespace {

// A 0-d array takes part as a constant.
Scalar scalar_of(const Tensor& tensor) {
  if (tensor.dtype().is_bool()) return Scalar(tensor.item<bool>());
  return visit_real(tensor.dtype(),
                    [&]<class T>(std::type_identity<T>) { return Scalar(tensor.item<T>()); });
}

Tensor tensor_of(const Scalar& scalar) {
  if (scalar.dtype().is_bool()) return scalar_tensor(scalar.as<bool>());
  return visit_real(scalar.dtype(), [&]<class T>(std::type_identity<T>) {
    if (!scalar.is_null()) return scalar_tensor(scalar.as<T>());
    if constexpr (std::is_floating_point_v<T>)
      return scalar_tensor(std::numeric_limits<T>::quiet_NaN());
    throw_error<InvalidArgumentError>("reduce", "no values, and the dtype has no NaN",
                                      {{"dtype", scalar.dtype().name()}}, "check count() first");
  });
}

class ProgramBuilder {
 public:
  int value_of(const NodePtr& node) {
    if (const auto it = values_.find(node.get()); it != values_.end()) return it->second;
    const int value = node->is_ready() ? read(node) : compute(node);
    values_.emplace(node.get(), value);
    return value;
  }

  void add_output(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    if (fields.kind == NodeKind::kReduction)
      program_.add_reduction(value_of(fields.inputs[0]), fields.reduction, fields.reduce_options);
    else if (fields.signature.form == Form::kColumn)
      program_.add_column(value_of(node));
    else
      program_.add_tensor(value_of(node));
  }

  std::vector<Value> run(const Shape& shape) const {
    return run_where_data_is("evaluate", true, inputs_, [&](std::span<const Value> inputs) {
      return evaluate(program_, inputs, shape);
    });
  }

  /// Size of the first dimension, which only the inputs know when the signature does not.
  int64_t rows() const {
    for (const Value& input : inputs_)
      if (const int64_t rows = signature_of(input).rows(); rows != 1) return rows;
    return 1;
  }

 private:
  int read(const NodePtr& node) {
    const Value& value = node->value();
    if (const auto* scalar = std::get_if<Scalar>(&value)) return program_.constant(*scalar);
    if (const auto* tensor = std::get_if<Tensor>(&value); tensor && tensor->shape().empty())
      return program_.constant(scalar_of(std::get<Tensor>(to_place(value, host))));
    inputs_.push_back(value);
    const Signature signature = signature_of(value);
    return program_.input(static_cast<int>(inputs_.size()) - 1, signature.dtype,
                          signature.nullable);
  }

  int compute(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    std::vector<int> operands;
    for (const NodePtr& input : fields.inputs) operands.push_back(value_of(input));
    if (fields.operation == Op::kCast) return program_.cast(operands[0], fields.signature.dtype);
    return program_.apply(fields.operation, operands);
  }

  Program program_;
  std::vector<Value> inputs_;
  std::unordered_map<const Node*, int> values_;
};

}  // namespace

std::vector<Value> run_fused_pass(const PlanStep& step) {
  ProgramBuilder builder;
  for (const NodePtr& node : step.outputs) builder.add_output(node);
  const NodePtr& first = step.outputs[0];
  Shape shape = (first->kind() == NodeKind::kReduction ? first->fields().inputs[0] : first)
                    ->signature()
                    .shape;
  if (!shape.empty() && shape[0] == kUnknown) shape[0] = builder.rows();
  std::vector<Value> values = builder.run(shape);
  for (Value& value : values)
    if (const auto* scalar = std::get_if<Scalar>(&value)) value = tensor_of(*scalar);
  return values;
}

}  // namespace hr
