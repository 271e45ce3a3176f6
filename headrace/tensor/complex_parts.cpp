// SPDX-License-Identifier: Apache-2.0
// Views of parts, and parts laid one next to the other.
#include "headrace/tensor/complex_parts.h"

#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/tensor/broadcast_view.h"

namespace hr {

namespace {

struct ComplexPart final : OperatorOf<ComplexPart> {
  bool imaginary = false;

  std::string_view name() const override { return imaginary ? "imag" : "real"; }

  int passes() const override { return 0; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor tensor = tensor_of(inputs[0]);
    const Dtype dtype = part_dtype(tensor.dtype());
    Shape strides = tensor.strides();
    for (int64_t& stride : strides) stride *= 2;
    return Tensor(dtype, tensor.shape(), std::move(strides), tensor.buffer(),
                  tensor.byte_offset() + (imaginary ? dtype.size_bytes() : 0));
  }

  static auto parameters(auto& self) { return std::tie(self.imaginary); }
};

struct ComplexFromParts final : OperatorOf<ComplexFromParts> {
  std::string_view name() const override { return "complex"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return 2; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor real = tensor_of(inputs[0]);
    const Dtype dtype = complex_dtype(real.dtype());
    Buffer buffer = allocate_at(real.place(), real.num_elements() * dtype.size_bytes());
    Shape strides = row_major(real.shape());
    for (int64_t& stride : strides) stride *= 2;
    copy_strided(name(), real, buffer, 0, strides);
    copy_strided(name(), tensor_of(inputs[1]), buffer, real.dtype().size_bytes(), strides);
    return Tensor(dtype, real.shape(), std::move(buffer));
  }
};

NodePtr part_of(const NodePtr& array, bool imaginary) {
  const std::vector<NodePtr> parts = held_inputs(*array);
  if (parts.size() == 2 && dynamic_cast<const ComplexFromParts*>(array->fields().op.get()))
    return parts[imaginary ? 1 : 0];
  Signature signature = array->signature();
  signature.dtype = part_dtype(signature.dtype);
  return apply_operator(ComplexPart::make(imaginary), std::move(signature), {array});
}

}  // namespace

Dtype part_dtype(Dtype dtype) {
  if (dtype.id() == TypeId::kComplex64) return TypeId::kFloat32;
  if (dtype.id() == TypeId::kComplex128) return TypeId::kFloat64;
  return dtype;
}

Dtype complex_dtype(Dtype part) {
  return part.id() == TypeId::kFloat32 ? TypeId::kComplex64 : TypeId::kComplex128;
}

NodePtr real_part(const NodePtr& array) {
  return array->signature().dtype.is_complex() ? part_of(array, false) : array;
}

NodePtr imaginary_part(const NodePtr& array) {
  if (!array->signature().dtype.is_complex())
    throw_error<TypeMismatchError>("imag", "expected complex numbers",
                                   {{"dtype", array->signature().dtype.name()}});
  return part_of(array, true);
}

NodePtr complex_from_parts(const NodePtr& real, const NodePtr& imaginary) {
  NodePtr parts[2] = {real, imaginary};
  const bool narrow = real->signature().dtype.id() == TypeId::kFloat32 &&
                      imaginary->signature().dtype.id() == TypeId::kFloat32;
  const Dtype dtype = narrow ? TypeId::kFloat32 : TypeId::kFloat64;
  for (NodePtr& part : parts) {
    if (part->signature().form != Form::kTensor)
      throw_error<TypeMismatchError>("complex", "expected arrays");
    part = cast(part, dtype);
  }
  Signature signature = parts[0]->signature();
  if (!signature.same_rows(parts[1]->signature())) {
    const Shape shapes[] = {signature.shape, parts[1]->signature().shape};
    signature = array_signature(dtype, broadcast_shape("complex", shapes));
    for (NodePtr& part : parts) part = broadcast_to(part, signature.shape);
  }
  signature.dtype = complex_dtype(dtype);
  return apply_operator(ComplexFromParts::make(), std::move(signature), {parts[0], parts[1]});
}

}  // namespace hr
