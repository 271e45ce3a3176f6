// SPDX-License-Identifier: Apache-2.0
// Eager work on the arrays of nodes.
#include "headrace/learn/eager.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/provenance.h"

namespace hr {

namespace {

using Work = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

std::vector<Value> values_of(std::string_view op, const std::vector<NodePtr>& nodes) {
  force(nodes);
  std::vector<Value> values;
  for (const NodePtr& node : nodes) {
    if (node->signature().form != Form::kTensor)
      throw_error<TypeMismatchError>(op, "expected an array");
    values.push_back(force(node));
  }
  return values;
}

std::vector<NodePtr> dispatch(std::string_view op, const KernelLimits& limits,
                              const std::vector<NodePtr>& nodes, std::vector<Value> inputs,
                              const Work& work) {
  const std::vector<Value> made =
      dispatch_to_place(op, limits, std::move(inputs), [&](std::span<const Value> values) {
        std::vector<Tensor> tensors;
        for (const Value& value : values) tensors.push_back(std::get<Tensor>(value));
        std::vector<Value> results;
        for (Tensor& result : work(tensors)) results.emplace_back(std::move(result));
        return results;
      });
  std::vector<NodePtr> results;
  for (const Value& value : made) {
    results.push_back(lazy_value(value));
    share_marks(results.back(), nodes);
  }
  return results;
}

}  // namespace

std::vector<NodePtr> run_eagerly(std::string_view op, const std::vector<NodePtr>& nodes,
                                 const Work& work) {
  return dispatch(
      op, [](std::span<const Value>) { return kNoKernel; }, nodes, values_of(op, nodes), work);
}

std::vector<NodePtr> run_eagerly(std::string_view op, const std::vector<NodePtr>& nodes,
                                 const KernelLimits& limits, const Work& work) {
  return dispatch(op, limits, nodes, values_of(op, nodes), work);
}

std::vector<NodePtr> run_beside(std::string_view op, const std::vector<NodePtr>& nodes, size_t rows,
                                const KernelLimits& limits, const Work& work) {
  std::vector<Value> inputs = values_of(op, nodes);
  const Place place = place_of(inputs[rows]);
  for (Value& input : inputs) {
    const auto& array = std::get<Tensor>(input);
    // Nothing is nowhere, whatever holds it.
    input = array.num_elements() == 0 ? Value(Tensor(array.dtype(), array.shape(), Buffer()))
                                      : to_place(input, place);
  }
  return dispatch(op, limits, nodes, std::move(inputs), work);
}

std::string no_limits(std::span<const Value>) {
  return "";
}

}  // namespace hr
