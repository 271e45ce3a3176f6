// SPDX-License-Identifier: Apache-2.0
// Results of which each part is one strided copy.
#include "headrace/tensor/slice_update.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/plan/graph/update_operator.h"
#include "headrace/tensor/broadcast_view.h"

namespace hr {

namespace {

struct Concatenate final : OperatorOf<Concatenate> {
  int64_t axis = 0;

  std::string_view name() const override { return "concatenate"; }

  std::string arguments() const override { return "axis=" + std::to_string(axis); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    const auto along = static_cast<size_t>(axis);
    Shape shape = std::get<Tensor>(inputs[0]).shape();
    shape[along] = 0;
    for (const Value& input : inputs)
      shape[along] =
          checked_add("concatenate", shape[along], std::get<Tensor>(input).shape()[along]);
    const Dtype dtype = std::get<Tensor>(inputs[0]).dtype();
    const int64_t width = dtype.size_bytes();
    Place place = host;
    for (const Value& input : inputs)
      if (const Tensor part = tensor_of(input); part.num_elements() > 0) place = part.place();
    Buffer buffer = allocate_at(place, checked_multiply("concatenate", num_elements(shape), width));
    const Shape strides = row_major(shape);
    int64_t offset = 0;
    for (const Value& input : inputs) {
      const Tensor part = tensor_of(input);
      copy_strided(name(), part, buffer, offset, strides);
      offset += part.shape()[along] * strides[along] * width;
    }
    return Tensor(dtype, std::move(shape), std::move(buffer));
  }

  static auto parameters(auto& self) { return std::tie(self.axis); }
};

struct SliceUpdate final : OperatorOf<SliceUpdate, UpdateOperator> {
  std::vector<ViewItem> items{};

  std::string_view name() const override { return "setitem"; }

  bool supports(Place) const override { return true; }

  void update(const Shape& shape, Buffer& buffer, std::span<const Value> inputs) const override {
    const Tensor value = tensor_of(inputs[0]);
    const Shape strides = row_major(shape);
    Shape steps;
    int64_t first = 0;
    for (size_t d = 0; d < items.size(); ++d) {
      first += items[d].begin * strides[d];
      if (items[d].step != 0) steps.push_back(items[d].step * strides[d]);
    }
    copy_strided(name(), value, buffer, first * value.dtype().size_bytes(), steps);
  }

  static auto parameters(auto& self) { return std::tie(self.items); }
};

}  // namespace

NodePtr concatenate(const std::vector<NodePtr>& arrays, int64_t axis) {
  if (arrays.empty())
    throw_error<InvalidArgumentError>("concatenate", "expected at least one array",
                                      {{"arrays", 0}});
  const Signature& first = arrays[0]->signature();
  Shape shape = first.shape;
  const auto dimensions = static_cast<int64_t>(shape.size());
  if (axis < 0 || axis >= dimensions)
    throw_error<InvalidArgumentError>("concatenate", "the axis is out of range",
                                      {{"axis", axis}, {"dimensions", dimensions}});
  int64_t along = 0;
  for (const NodePtr& array : arrays) {
    const Signature& each = array->signature();
    if (each.form != Form::kTensor || each.dtype != first.dtype)
      throw_error<TypeMismatchError>("concatenate", "the arrays differ in dtype",
                                     {{"dtype", first.dtype.name()}, {"other", each.dtype.name()}});
    for (size_t d = 0; d < each.shape.size(); ++d)
      if (each.shape[d] == kUnknown)
        throw_error<InvalidArgumentError>("concatenate", "a length is not known yet", {{"axis", d}},
                                          "evaluate the array first: len() does");
    Shape others = each.shape;
    if (static_cast<int64_t>(others.size()) == dimensions) {
      along = checked_add("concatenate", along, others[static_cast<size_t>(axis)]);
      others[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)];
    }
    if (others != shape)
      throw_error<InvalidArgumentError>(
          "concatenate", "the arrays differ in more than the size along the axis",
          {{"axis", axis}, {"dimensions", dimensions}, {"other_dimensions", others.size()}});
  }
  shape[static_cast<size_t>(axis)] = along;
  return apply_operator(Concatenate::make(axis), array_signature(first.dtype, std::move(shape)),
                        arrays);
}

NodePtr slice_update(const NodePtr& array, const NodePtr& value, std::vector<ViewItem> items) {
  const NodePtr view = strided_view(array, items);  // checks the items
  const Signature& from = array->signature();
  if (value->signature().dtype != from.dtype)
    throw_error<TypeMismatchError>(
        "setitem", "the values have another dtype",
        {{"dtype", from.dtype.name()}, {"values", value->signature().dtype.name()}},
        "convert them with astype");
  return apply_operator(SliceUpdate::make(std::move(items)),
                        array_signature(from.dtype, from.shape),
                        {array, broadcast_to(value, view->signature().shape)});
}

}  // namespace hr
