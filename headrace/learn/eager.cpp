// SPDX-License-Identifier: Apache-2.0
// Eager work on the arrays of nodes.
#include "headrace/learn/eager.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/placement.h"

namespace hr {

std::vector<NodePtr> run_eagerly(
    std::string_view op, const std::vector<NodePtr>& nodes,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& work) {
  force(nodes);
  std::vector<Value> inputs;
  for (const NodePtr& node : nodes) {
    if (node->signature().form != Form::kTensor)
      throw_error<TypeMismatchError>(op, "expected an array");
    inputs.push_back(force(node));
  }
  const std::vector<Value> made = dispatch_to_place(
      op, [](std::span<const Value>) { return kNoKernel; }, std::move(inputs),
      [&](std::span<const Value> values) {
        std::vector<Tensor> tensors;
        for (const Value& value : values) tensors.push_back(std::get<Tensor>(value));
        std::vector<Value> results;
        for (Tensor& result : work(tensors)) results.emplace_back(std::move(result));
        return results;
      });
  std::vector<NodePtr> results;
  for (const Value& value : made) results.push_back(lazy_value(value));
  return results;
}

}  // namespace hr
