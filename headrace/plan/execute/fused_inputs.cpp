// SPDX-License-Identifier: Apache-2.0
// Inputs of a table node that nobody made.
#include "headrace/plan/execute/fused_inputs.h"

#include "headrace/plan/eval/evaluate.h"

namespace hr {

std::vector<Value> RowInputs::made() const {
  const std::optional<Mask> by = mask ? std::optional(picks()) : std::nullopt;
  const auto picked = [&](const Value& value) -> Value {
    if (!by) return value;
    if (const auto* column = std::get_if<Column>(&value)) return filter(*column, *by);
    return filter(std::get<Tensor>(value), *by);
  };
  std::vector<Value> result = given;
  for (const int64_t key : keys)
    result[static_cast<size_t>(key)] = picked(given[static_cast<size_t>(key)]);
  std::vector<Value> inputs;
  for (const Value& value : values) inputs.push_back(picked(value));
  Program whole = program;
  std::vector<size_t> places;
  for (size_t place = 0; place < result.size(); ++place) {
    if (computed[place] < 0) continue;
    const Program::Node& node = program.nodes()[static_cast<size_t>(computed[place])];
    if (node.op == Op::kInput) {
      result[place] = inputs[static_cast<size_t>(node.input)];
      continue;
    }
    whole.add_column(computed[place]);
    places.push_back(place);
  }
  if (places.empty()) return result;
  const int64_t count = inputs.empty() ? rows : signature_of(inputs[0]).rows();
  std::vector<Value> made_here = evaluate(whole, inputs, count);
  for (size_t i = 0; i < places.size(); ++i) result[places[i]] = std::move(made_here[i]);
  return result;
}

std::string RowInputs::why_unsupported() const {
  const auto* const column = mask ? std::get_if<Column>(&*mask) : nullptr;
  if (column && column->null_count() > 0) return "a mask with nulls has no kernel for CUDA";
  Program whole = program;
  for (const int value : computed)
    if (value >= 0 && program.nodes()[static_cast<size_t>(value)].op != Op::kInput)
      whole.add_column(value);
  return hr::why_unsupported(whole, values, Shape{rows});
}

}  // namespace hr
