// SPDX-License-Identifier: Apache-2.0
// Signatures of values.
#include "headrace/plan/eval/value.h"

#include <atomic>

namespace hr {

uint64_t new_domain() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

uint64_t shorter_domain(uint64_t parent, int64_t by) {
  if (by == 0) return parent;
  // A mix (splitmix64) with the high bit set: never one of the numbers above.
  uint64_t z = parent * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(by);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) | (uint64_t{1} << 63);
}

Signature array_signature(Dtype dtype, Shape shape, uint64_t domain) {
  Signature signature;
  signature.form = Form::kTensor;
  signature.dtype = dtype;
  signature.shape = std::move(shape);
  signature.domain = domain;
  return signature;
}

Signature signature_of(const Value& value, uint64_t domain) {
  if (const auto* column = std::get_if<Column>(&value))
    return {.form = Form::kColumn,
            .dtype = column->dtype(),
            .shape = {column->num_rows()},
            .nullable = column->null_count() > 0,
            .domain = domain};
  if (const auto* tensor = std::get_if<Tensor>(&value))
    return {.form = Form::kTensor,
            .dtype = tensor->dtype(),
            .shape = tensor->shape(),
            .domain = domain};
  if (const auto* scalar = std::get_if<Scalar>(&value))
    return {.form = Form::kTensor, .dtype = scalar->dtype(), .domain = domain};
  return {.form = Form::kTable, .shape = {std::get<Table>(value).num_rows()}, .domain = domain};
}

int64_t value_bytes(const Value& value) {
  if (const auto* column = std::get_if<Column>(&value)) return column->size_bytes();
  if (const auto* tensor = std::get_if<Tensor>(&value))
    return tensor->num_elements() * tensor->dtype().size_bytes();
  if (const auto* scalar = std::get_if<Scalar>(&value)) return scalar->dtype().size_bytes();
  int64_t bytes = 0;
  for (const Column& column : std::get<Table>(value).columns()) bytes += column.size_bytes();
  return bytes;
}

Scalar scalar_of(const Tensor& tensor) {
  if (tensor.dtype().is_bool()) return Scalar(*tensor.as<uint8_t>() != 0);
  return visit_real(tensor.dtype(),
                    [&]<class T>(std::type_identity<T>) { return Scalar(tensor.item<T>()); });
}

Mask mask_of(const Value& value) {
  const auto* column = std::get_if<Column>(&value);
  return column ? Mask(*column) : Mask(std::get<Tensor>(value));
}

Value filter(const Value& value, const Mask& mask) {
  if (const auto* column = std::get_if<Column>(&value)) return filter(*column, mask);
  return filter(std::get<Tensor>(value), mask);
}

}  // namespace hr
