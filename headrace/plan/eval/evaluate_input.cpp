// SPDX-License-Identifier: Apache-2.0
// Binding values to the inputs of a program.
#include "headrace/plan/eval/evaluate_input.h"

#include "headrace/plan/eval/value.h"

namespace hr {

namespace {

[[noreturn]] void refuse_input(int index, std::string_view what, Dtype got, Dtype expected) {
  throw_error<InvalidArgumentError>(
      "evaluate", what, {{"input", index}, {"dtype", got.name()}, {"expected", expected.name()}});
}

Dtype dtype_of_value(const Program::Node& node, const Value& value) {
  if (const Column* column = std::get_if<Column>(&value)) return column->dtype();
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return tensor->dtype();
  if (const Scalar* scalar = std::get_if<Scalar>(&value)) return scalar->dtype();
  throw_error<InvalidArgumentError>("evaluate", "an input is a table", {{"input", node.input}},
                                    "select a column");
}

}  // namespace

EvaluateInput bind_input(const Program::Node& node, const Value& value, const Shape& shape,
                         int64_t rows) {
  EvaluateInput input;
  input.dtype = node.dtype;
  const Dtype got = dtype_of_value(node, value);
  if (got != node.dtype) refuse_input(node.input, "the input has another dtype", got, node.dtype);
  if (const Scalar* scalar = std::get_if<Scalar>(&value)) {
    if (scalar->is_null() && !node.nullable)
      refuse_input(node.input, "the input contains nulls but is declared without", got, got);
    input.source = InputSource::kOnce;
    input.once = *scalar;
    return input;
  }
  if (const Column* column = std::get_if<Column>(&value)) {
    if (column->num_rows() != rows)
      throw_error<InvalidArgumentError>(
          "evaluate", "the columns differ in length",
          {{"input", node.input}, {"rows", column->num_rows()}, {"expected", rows}});
    if (column->null_count() > 0 && !node.nullable)
      refuse_input(node.input, "the input contains nulls but is declared without", got, got);
    input.validity = column->validity();
    input.validity_offset = column->offset();
    if (got.is_bool()) {
      input.source = InputSource::kBits;
      input.bits = column->bits();
      input.bit_offset = column->offset();
    } else if (rows > 0) {
      input.data = column->values_buffer().data() + column->offset() * got.size_bytes();
    }
    return input;
  }
  const Tensor& tensor = std::get<Tensor>(value);
  if (tensor.num_elements() == 1) {
    input.source = InputSource::kOnce;
    input.once = scalar_of(tensor);
    return input;
  }
  input.data = rows > 0 ? tensor.data() : nullptr;
  if (tensor.shape() == shape && tensor.is_contiguous()) return input;
  if (tensor.num_elements() == rows && tensor.is_contiguous() && tensor.num_dimensions() == 1 &&
      shape.size() <= 1)
    return input;
  input.source = InputSource::kStrided;
  input.strides.assign(shape.size(), 0);
  const size_t missing = shape.size() - std::min(shape.size(), tensor.shape().size());
  bool broadcasts = tensor.shape().size() <= shape.size();
  for (size_t i = 0; broadcasts && i < tensor.shape().size(); ++i) {
    const int64_t size = tensor.shape()[i];
    if (size == shape[missing + i])
      input.strides[missing + i] = tensor.strides()[i];
    else
      broadcasts = size == 1;
  }
  if (!broadcasts)
    throw_error<InvalidArgumentError>(
        "evaluate", "an input does not broadcast to the shape of the evaluation",
        {{"input", node.input}, {"elements", tensor.num_elements()}, {"expected", rows}});
  return input;
}

}  // namespace hr
