// SPDX-License-Identifier: Apache-2.0
// The node of running sums.
#include "headrace/tensor/cumulative_axis.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/tensor/cumulative_axis_kernels.h"
#include "headrace/tensor/tensor_of.h"

namespace hr {

namespace {

struct CumulativeAxis final : OperatorOf<CumulativeAxis> {
  Running running = Running::kSum;
  int64_t axis = 0;
  bool initial = false;

  std::string_view name() const override {
    return running == Running::kSum ? "cumulative_sum" : "cumulative_prod";
  }

  std::string arguments() const override { return "axis=" + std::to_string(axis); }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor from = tensor_of(inputs[0]);
    const auto along = static_cast<size_t>(axis);
    Shape shape = from.shape();
    shape[along] += initial ? 1 : 0;
    Buffer buffer =
        Buffer::allocate(checked_multiply(name(), num_elements(shape), from.dtype().size_bytes()));
    if (buffer.size_bytes() > 0)
      cpu::run_along(running, from, along, initial, buffer.mutable_data());
    return Tensor(from.dtype(), std::move(shape), std::move(buffer));
  }

  static auto parameters(auto& self) { return std::tie(self.running, self.axis, self.initial); }
};

}  // namespace

NodePtr cumulative_axis(Running running, const NodePtr& array, int64_t axis, bool initial) {
  const char* const op = running == Running::kSum ? "cumulative_sum" : "cumulative_prod";
  Signature signature = array->signature();
  const auto dimensions = static_cast<int64_t>(signature.shape.size());
  if (signature.form != Form::kTensor || !signature.dtype.is_real())
    throw_error<TypeMismatchError>(op, "expected an array of real numbers",
                                   {{"dtype", signature.dtype.name()}});
  if (axis < 0 || axis >= dimensions)
    throw_error<InvalidArgumentError>(op, "the axis is out of range",
                                      {{"axis", axis}, {"dimensions", dimensions}});
  if (int64_t& size = signature.shape[static_cast<size_t>(axis)]; initial) {
    if (size == kUnknown)
      throw_error<InvalidArgumentError>(op, "the length is not known yet", {{"axis", axis}},
                                        "evaluate the array first: len() does");
    ++size;
    signature.domain = 0;
  }
  return apply_operator(CumulativeAxis::make(running, axis, initial), std::move(signature),
                        {array});
}

}  // namespace hr
