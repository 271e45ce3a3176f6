// SPDX-License-Identifier: Apache-2.0
// The node of complex functions.
#include "headrace/tensor/complex_function.h"

#include "headrace/base/error.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/tensor/complex_function_kernels.h"

#include <algorithm>
#include <iterator>

namespace hr {

namespace {

constexpr std::string_view kNames[] = {"sqrt", "exp",    "log",     "sin",     "cos",
                                       "tan",  "arcsin", "arccos",  "arctan",  "sinh",
                                       "cosh", "tanh",   "arcsinh", "arccosh", "arctanh"};

struct ApplyComplex final : OperatorOf<ApplyComplex> {
  ComplexFunction function = ComplexFunction::kSqrt;

  std::string_view name() const override { return kNames[static_cast<size_t>(function)]; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor from = contiguous(tensor_of(inputs[0]), name());
    Buffer buffer = Buffer::allocate(from.num_elements() * from.dtype().size_bytes());
    if (buffer.size_bytes() > 0)
      cpu::apply_complex(function, from.dtype(), from.data(), buffer.mutable_data(),
                         from.num_elements());
    return Tensor(from.dtype(), from.shape(), std::move(buffer));
  }

  static auto parameters(auto& self) { return std::tie(self.function); }
};

}  // namespace

ComplexFunction complex_function_from_name(std::string_view name) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    throw_error<UnsupportedError>("complex", "no such function of complex numbers",
                                  {{"name", name}}, "convert with to_numpy() first");
  return static_cast<ComplexFunction>(found - std::begin(kNames));
}

NodePtr complex_function(ComplexFunction function, const NodePtr& array) {
  if (!array->signature().dtype.is_complex())
    throw_error<TypeMismatchError>(kNames[static_cast<size_t>(function)],
                                   "expected complex numbers",
                                   {{"dtype", array->signature().dtype.name()}});
  return apply_operator(ApplyComplex::make(function), array->signature(), {array});
}

}  // namespace hr
