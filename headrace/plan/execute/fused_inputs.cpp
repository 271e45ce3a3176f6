// SPDX-License-Identifier: Apache-2.0
// Inputs that a table node computes while it reads them.
#include "headrace/plan/execute/fused_inputs.h"

#include "headrace/plan/eval/evaluate.h"

namespace hr {

namespace {

// Whether an input is a result of the program: neither given nor one of the program's inputs.
bool is_result(const RowInputs& inputs, size_t place) {
  const int value = inputs.computed[place];
  return value >= 0 && inputs.program.nodes()[static_cast<size_t>(value)].op != Op::kInput;
}

Program with_outputs(const RowInputs& inputs) {
  Program program = inputs.program;
  for (size_t place = 0; place < inputs.computed.size(); ++place)
    if (is_result(inputs, place)) program.add_column(inputs.computed[place]);
  return program;
}

}  // namespace

std::vector<Value> RowInputs::made() const {
  const std::optional<Mask> by = mask ? std::optional(picks()) : std::nullopt;
  const auto picked = [&](const Value& value) -> Value { return by ? filter(value, *by) : value; };
  std::vector<Value> result = given;
  for (const int64_t key : keys)
    result[static_cast<size_t>(key)] = picked(given[static_cast<size_t>(key)]);
  std::vector<Value> inputs;
  for (const Value& value : values) inputs.push_back(picked(value));
  for (size_t place = 0; place < result.size(); ++place)
    if (computed[place] >= 0 && !is_result(*this, place))
      result[place] =
          inputs[static_cast<size_t>(program.nodes()[static_cast<size_t>(computed[place])].input)];
  const Program whole = with_outputs(*this);
  if (whole.outputs().empty()) return result;
  const int64_t count = inputs.empty() ? rows : signature_of(inputs[0]).rows();
  std::vector<Value> results = evaluate_supported(whole, inputs, Shape{count});
  auto next = results.begin();
  for (size_t place = 0; place < result.size(); ++place)
    if (is_result(*this, place)) result[place] = std::move(*next++);
  return result;
}

std::string RowInputs::why_unsupported() const {
  return hr::why_unsupported(with_outputs(*this), values, Shape{rows});
}

}  // namespace hr
