// SPDX-License-Identifier: Apache-2.0
// The node of matmul, and how factorizations reach the values of nodes.
#include "headrace/tensor/linalg_nodes.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/base/error.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/provenance.h"

#include <algorithm>

namespace hr {
namespace {

struct Matmul final : OperatorOf<Matmul> {
  Dtype dtype{};

  std::string_view name() const override { return "matmul"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_no_matmul_kernel(std::get<Tensor>(inputs[0]), std::get<Tensor>(inputs[1]), dtype);
  }

  Value execute(std::span<const Value> inputs) const override {
    return matmul(std::get<Tensor>(inputs[0]), std::get<Tensor>(inputs[1]), dtype);
  }

  static auto parameters(auto& self) { return std::tie(self.dtype); }
};

/// The size of a result where operands have these, of which 1 is repeated.
int64_t broadcast_size(int64_t left, int64_t right) {
  if (left == right || right == 1) return left;
  if (left == 1) return right;
  if (left == kUnknown || right == kUnknown) return kUnknown;
  throw_error<InvalidArgumentError>("matmul", "stacks of matrices differ in shape",
                                    {{"left", left}, {"right", right}});
}

}  // namespace

NodePtr matmul(const NodePtr& a, const NodePtr& b, Dtype dtype) {
  for (const NodePtr& x : {a, b}) {
    const Signature& from = x->signature();
    if (from.form != Form::kTensor || from.shape.size() < 2 || !from.dtype.is_real())
      throw_error<TypeMismatchError>(
          "matmul", "expected numbers of two or more dimensions",
          {{"dimensions", from.shape.size()}, {"dtype", from.dtype.name()}});
  }
  const Shape &left = a->signature().shape, &right = b->signature().shape;
  const int64_t columns = left.back(), rows = right[right.size() - 2];
  if (columns != rows && columns != kUnknown && rows != kUnknown)
    throw_error<InvalidArgumentError>("matmul", "columns of the left are not rows of the right",
                                      {{"columns", columns}, {"rows", rows}});
  Shape shape(std::max(left.size(), right.size()) - 2, 1);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto size = [&](const Shape& x) {
      return axis + x.size() < shape.size() + 2 ? 1 : x[axis + x.size() - shape.size() - 2];
    };
    shape[axis] = broadcast_size(size(left), size(right));
  }
  shape.insert(shape.end(), {left[left.size() - 2], right.back()});
  return apply_operator(Matmul::make(dtype), array_signature(dtype, std::move(shape)), {a, b});
}

std::vector<NodePtr> run_linalg(
    std::string_view op, const std::vector<NodePtr>& inputs,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& work,
    const std::function<std::string(std::span<const Tensor>)>& why_no_kernel) {
  const auto tensors_of = [](std::span<const Value> there) {
    std::vector<Tensor> tensors;
    for (const Value& value : there) tensors.push_back(std::get<Tensor>(value));
    return tensors;
  };
  std::vector<Value> values;
  for (const NodePtr& input : inputs) {
    if (input->signature().form != Form::kTensor)
      throw_error<TypeMismatchError>(op, "expected an array");
    values.push_back(force(input));
  }
  const std::vector<Value> made = dispatch_to_place(
      op,
      [&](std::span<const Value> there) {
        return why_no_kernel ? why_no_kernel(tensors_of(there)) : kNoKernel;
      },
      std::move(values),
      [&](std::span<const Value> there) {
        const std::vector<Tensor> results = work(tensors_of(there));
        return std::vector<Value>(results.begin(), results.end());
      });
  std::vector<NodePtr> nodes;
  for (const Value& value : made) {
    nodes.push_back(lazy_value(value));
    share_marks(nodes.back(), inputs);
  }
  return nodes;
}

}  // namespace hr
