// SPDX-License-Identifier: Apache-2.0
// Values of array nodes as tensors.
#pragma once
#include "headrace/plan/eval/value.h"

namespace hr {

/// The tensor that a value is, or a number as one without dimensions.
inline Tensor tensor_of(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  if (const auto* column = std::get_if<Column>(&value)) return as_tensor(*column);
  const auto& scalar = std::get<Scalar>(value);
  if (scalar.dtype().is_bool()) return scalar_tensor(scalar.as<bool>());
  return visit_real(scalar.dtype(),
                    [&]<class T>(std::type_identity<T>) { return scalar_tensor(scalar.as<T>()); });
}

}  // namespace hr
