// SPDX-License-Identifier: Apache-2.0
// Views with strides of zero.
#include "headrace/tensor/broadcast_view.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/plan/eval/tensor_of.h"

#include <numeric>

namespace hr {

namespace {

struct BroadcastView final : OperatorOf<BroadcastView> {
  Shape shape{};
  std::vector<int64_t> axes{};

  std::string_view name() const override { return "broadcast_to"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor tensor = tensor_of(inputs[0]);
    Shape strides(shape.size(), 0);
    for (size_t d = 0; d < axes.size(); ++d)
      if (tensor.shape()[d] != 1) strides[static_cast<size_t>(axes[d])] = tensor.strides()[d];
    return Tensor(tensor.dtype(), shape, std::move(strides), tensor.buffer(), tensor.byte_offset());
  }

  static auto parameters(auto& self) { return std::tie(self.shape, self.axes); }
};

}  // namespace

NodePtr broadcast_in_dim(const NodePtr& array, Shape shape, std::vector<int64_t> axes) {
  const Signature& from = array->signature();
  if (from.form != Form::kTensor)
    throw_error<TypeMismatchError>("broadcast_to", "expected an array");
  if (shape == from.shape) return array;
  if (axes.size() != from.shape.size())
    throw_error<InvalidArgumentError>("broadcast_to", "the array has more axes than the shape",
                                      {{"axes", from.shape.size()}, {"shape", shape.size()}});
  int64_t before = -1;
  for (size_t d = 0; d < axes.size(); ++d) {
    const int64_t size = from.shape[d], axis = axes[d];
    if (axis <= before || axis >= static_cast<int64_t>(shape.size()))
      throw_error<InvalidArgumentError>("broadcast_to", "an axis is out of range or order",
                                        {{"axis", axis}, {"dimensions", shape.size()}});
    const int64_t wanted = shape[static_cast<size_t>(axis)];
    if (size == kUnknown || (size != 1 && size != wanted))
      throw_error<InvalidArgumentError>("broadcast_to", "the shapes do not broadcast",
                                        {{"axis", d}, {"size", size}, {"wanted", wanted}});
    before = axis;
  }
  // Throws for negative sizes, and for more bytes than any copy of the view could have.
  checked_multiply("broadcast_to", num_elements(shape), from.dtype.size_bytes());
  return apply_operator(BroadcastView::make(shape, std::move(axes)),
                        array_signature(from.dtype, shape), {array});
}

NodePtr broadcast_to(const NodePtr& array, Shape shape) {
  const size_t dimensions = array->signature().shape.size();
  std::vector<int64_t> axes(dimensions);
  std::iota(axes.begin(), axes.end(),
            static_cast<int64_t>(shape.size()) - static_cast<int64_t>(dimensions));
  return broadcast_in_dim(array, std::move(shape), std::move(axes));
}

}  // namespace hr
