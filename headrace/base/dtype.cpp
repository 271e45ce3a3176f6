// SPDX-License-Identifier: Apache-2.0
// Names of element types.
#include "headrace/base/dtype.h"

#include "headrace/base/error.h"

namespace hr {

namespace {

constexpr std::string_view kNames[] = {"bool",    "int8",      "int16",      "int32",  "int64",
                                       "uint8",   "uint16",    "uint32",     "uint64", "float32",
                                       "float64", "complex64", "complex128", "string"};

}  // namespace

std::string_view Dtype::name() const {
  return kNames[static_cast<size_t>(id_)];
}

Dtype dtype_from_name(std::string_view name) {
  if (name == "float") return TypeId::kFloat64;
  if (name == "int") return TypeId::kInt64;
  if (name == "str") return TypeId::kString;
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<TypeId>(i);
  throw_error<TypeMismatchError>("dtype", "unknown dtype", {{"dtype", name}},
                                 "use one of bool, int8 to int64, uint8 to uint64, float32, "
                                 "float64, complex64, complex128, string");
}

}  // namespace hr
