// SPDX-License-Identifier: Apache-2.0
// Nodes that pick and replace elements by positions.
#include "headrace/tensor/element_index.h"

#include "headrace/base/checked.h"
#include "headrace/base/out_of_bounds.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/plan/graph/update_operator.h"
#include "headrace/tensor/broadcast_view.h"
#include "headrace/tensor/element_index_kernels.h"

namespace hr {

namespace {

void check_positions(const char* op, const Shape& shape, const BadPosition& bad) {
  if (bad.axis >= 0)
    throw_error<OutOfBoundsError>(op, "position out of range",
                                  {{"position", bad.position},
                                   {"axis", bad.axis},
                                   {"size", shape[static_cast<size_t>(bad.axis)]}});
}

/// Where the rows that positions name begin in a tensor.
struct Offsets {
  Offsets(const char* op, const Shape& shape, const Shape& strides, std::vector<Tensor> positions)
      : indices(std::move(positions)), count(indices[0].num_elements()) {
    buffer = Buffer::allocate(checked_multiply(op, count, 8));
    if (count == 0) return;
    check_positions(op, shape,
                    cpu::element_offsets(indices, shape, strides, buffer.mutable_as<int64_t>()));
  }

  const int64_t* data() const { return reinterpret_cast<const int64_t*>(buffer.data()); }

  std::vector<Tensor> indices;
  int64_t count;
  Buffer buffer{};
};

std::vector<Tensor> tensors_of(std::span<const Value> values) {
  std::vector<Tensor> made;
  for (const Value& each : values) made.push_back(tensor_of(each));
  return made;
}

int64_t row_elements(const Shape& shape, size_t first) {
  int64_t count = 1;
  for (size_t d = first; d < shape.size(); ++d) count *= shape[d];
  return count;
}

std::string why_no_index_kernel(const Tensor& from, size_t indices, const Tensor& index) {
  const bool fits = indices <= cuda::kMostIndices && index.shape().size() <= cuda::kMostIndexAxes &&
                    from.shape().size() - indices <= cuda::kMostIndexAxes;
  return fits ? "" : "more than 8 arrays of positions or 16 axes have no kernel for CUDA";
}

struct GatherElements final : OperatorOf<GatherElements> {
  std::string_view name() const override { return "getitem"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_no_index_kernel(tensor_of(inputs[0]), inputs.size() - 1, tensor_of(inputs[1]));
  }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor from = tensor_of(inputs[0]);
    std::vector<Tensor> indices = tensors_of(inputs.subspan(1));
    const size_t axes = indices.size();
    Shape shape = indices[0].shape();
    shape.insert(shape.end(), from.shape().begin() + static_cast<int64_t>(axes),
                 from.shape().end());
    Buffer buffer = allocate_at(
        from.place(), checked_multiply("getitem", num_elements(shape), from.dtype().size_bytes()));
    if constexpr (built_with_cuda)
      if (from.place().is_gpu() && buffer.size_bytes() > 0) {
        check_positions("getitem", from.shape(), cuda::gather_elements(from, indices, buffer));
        return Tensor(from.dtype(), std::move(shape), std::move(buffer));
      }
    if (axes == from.shape().size()) {
      check_positions("getitem", from.shape(),
                      cpu::gather_elements(from, indices, buffer.mutable_data()));
    } else {
      const Offsets at("getitem", from.shape(), from.strides(), std::move(indices));
      if (buffer.size_bytes() > 0)
        cpu::gather_at(from, axes, at.data(), at.count, buffer.mutable_data());
    }
    return Tensor(from.dtype(), std::move(shape), std::move(buffer));
  }
};

struct ScatterElements final : OperatorOf<ScatterElements, UpdateOperator> {
  std::string_view name() const override { return "setitem"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_no_index_kernel(tensor_of(inputs[0]), inputs.size() - 2, tensor_of(inputs[2]));
  }

  void update(const Shape& shape, Buffer& buffer, std::span<const Value> inputs) const override {
    const Tensor values = contiguous(tensor_of(inputs[0]), "setitem");
    std::vector<Tensor> indices = tensors_of(inputs.subspan(1));
    if constexpr (built_with_cuda)
      if (buffer.place().is_gpu() && values.num_elements() > 0)
        return check_positions("setitem", shape,
                               cuda::scatter_elements(values, indices, shape, buffer));
    const size_t axes = indices.size();
    const Offsets at("setitem", shape, row_major(shape), std::move(indices));
    if (buffer.size_bytes() > 0)
      cpu::scatter_at(values, at.data(), at.count, row_elements(shape, axes),
                      buffer.mutable_data());
  }
};

/// The indices as int64 of one shape, and that shape.
std::vector<NodePtr> checked_indices(const char* op, const NodePtr& array,
                                     const std::vector<NodePtr>& indices, Shape& shape) {
  const Signature& from = array->signature();
  if (from.form != Form::kTensor) throw_error<TypeMismatchError>(op, "expected an array");
  if (indices.empty() || indices.size() > from.shape.size())
    throw_error<InvalidArgumentError>(op, "the number of indices does not fit the array",
                                      {{"indices", indices.size()}, {"axes", from.shape.size()}});
  std::vector<Shape> shapes;
  for (const NodePtr& index : indices) {
    const Signature& each = index->signature();
    if (!each.dtype.is_integer())
      throw_error<TypeMismatchError>(op, "positions must be integers",
                                     {{"dtype", each.dtype.name()}});
    shapes.push_back(each.shape);
  }
  shape = broadcast_shape(op, shapes);
  std::vector<NodePtr> cast_indices;
  for (const NodePtr& index : indices)
    cast_indices.push_back(broadcast_to(cast(index, TypeId::kInt64), shape));
  shape.insert(shape.end(), from.shape.begin() + static_cast<int64_t>(indices.size()),
               from.shape.end());
  return cast_indices;
}

}  // namespace

NodePtr gather_elements(const NodePtr& array, const std::vector<NodePtr>& indices) {
  Shape shape;
  std::vector<NodePtr> inputs = checked_indices("getitem", array, indices, shape);
  inputs.insert(inputs.begin(), array);
  return apply_operator(GatherElements::make(),
                        array_signature(array->signature().dtype, std::move(shape)),
                        std::move(inputs));
}

NodePtr scatter_elements(const NodePtr& array, const std::vector<NodePtr>& indices,
                         const NodePtr& values) {
  Shape shape;
  std::vector<NodePtr> inputs = checked_indices("setitem", array, indices, shape);
  const Signature& from = array->signature();
  if (values->signature().dtype != from.dtype)
    throw_error<TypeMismatchError>(
        "setitem", "the values have another dtype",
        {{"dtype", from.dtype.name()}, {"values", values->signature().dtype.name()}},
        "convert them with astype");
  inputs.insert(inputs.begin(), {array, broadcast_to(values, shape)});
  return apply_operator(ScatterElements::make(), array_signature(from.dtype, from.shape),
                        std::move(inputs));
}

}  // namespace hr
