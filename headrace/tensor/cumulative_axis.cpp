// SPDX-License-Identifier: Apache-2.0
// The node of running sums.
#include "headrace/tensor/cumulative_axis.h"

#include "headrace/algo/scan/cumulative.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/tensor/cumulative_axis_kernels.h"

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

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    constexpr int64_t kLong = int64_t{1} << 16, kManyLines = 64;
    const Tensor from = tensor_of(inputs[0]);
    const int64_t length = from.shape()[static_cast<size_t>(axis)];
    const bool is_slow = length > kLong && from.num_elements() < kManyLines * length;
    return is_slow && !is_one_line_of_integers(from)
               ? "few long lines, which add up in order, have no kernel for CUDA"
               : "";
  }

  // Exact in any order.
  bool is_one_line_of_integers(const Tensor& from) const {
    return from.dtype().is_integer() && from.dtype().size_bytes() == 8 &&
           from.num_dimensions() == 1 && !initial;
  }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor from = tensor_of(inputs[0]);
    const auto along = static_cast<size_t>(axis);
    Shape shape = from.shape();
    shape[along] += initial ? 1 : 0;
    if (from.place().is_gpu() && is_one_line_of_integers(from)) {
      const auto how = running == Running::kSum ? Aggregate::kSum : Aggregate::kProduct;
      return as_tensor(cumulative(how, as_column(contiguous(from, name()))));
    }
    Buffer buffer = allocate_at(
        from.place(), checked_multiply(name(), num_elements(shape), from.dtype().size_bytes()));
    if constexpr (built_with_cuda)
      if (from.place().is_gpu() && buffer.size_bytes() > 0) {
        cuda::run_along(running, from, along, initial, buffer);
        return Tensor(from.dtype(), std::move(shape), std::move(buffer));
      }
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
