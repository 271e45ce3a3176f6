// SPDX-License-Identifier: Apache-2.0
// Checks of frames, and the operator.
#include "headrace/relational/order/window_frame.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/operator.h"
#include "headrace/relational/order/window_frame_kernels.h"

#include <array>
#include <tuple>

namespace hr {

namespace {

constexpr std::array<std::string_view, 3> kNames = {"sum", "min", "max"};
constexpr std::string_view kOp = "window_frame";

void check_dtypes(Dtype begins, Dtype ends, Dtype values) {
  if (begins != TypeId::kInt64 || ends != TypeId::kInt64)
    throw_error<TypeMismatchError>(kOp, "expected int64 bounds",
                                   {{"begins", begins.name()}, {"ends", ends.name()}},
                                   "use astype('int64')");
  if (values != TypeId::kInt64 && values != TypeId::kFloat64)
    throw_error<TypeMismatchError>(kOp, "expected int64 or float64 values",
                                   {{"dtype", values.name()}}, "use astype");
}

struct WindowFrame final : OperatorOf<WindowFrame> {
  FrameFunction function = FrameFunction::kSum;

  std::string_view name() const override { return kOp; }

  std::string arguments() const override {
    return std::string(kNames[static_cast<size_t>(function)]);
  }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return 2; }

  Cost cost(const InputEstimates&) const override { return {.nanoseconds = 50}; }

  Value execute(std::span<const Value> inputs) const override {
    return window_frame(function, std::get<Column>(inputs[0]), std::get<Column>(inputs[1]),
                        std::get<Column>(inputs[2]));
  }

  static auto parameters(auto& self) { return std::tie(self.function); }
};

}  // namespace

FrameFunction frame_function_from_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<FrameFunction>(i);
  throw_error<InvalidArgumentError>(kOp, "unknown function", {{"function", std::string(name)}},
                                    "use sum, min or max");
}

Column window_frame(FrameFunction function, const Column& begins, const Column& ends,
                    const Column& values) {
  check_dtypes(begins.dtype(), ends.dtype(), values.dtype());
  if (begins.num_rows() != ends.num_rows())
    throw_error<InvalidArgumentError>(kOp, "the bounds have different lengths",
                                      {{"begins", begins.num_rows()}, {"ends", ends.num_rows()}},
                                      "pass a begin and an end for each row");
  return cpu::window_frame_kernel(function, begins, ends, values);
}

NodePtr window_frame(FrameFunction function, const NodePtr& begins, const NodePtr& ends,
                     const NodePtr& values) {
  check_dtypes(begins->signature().dtype, ends->signature().dtype, values->signature().dtype);
  Signature signature = begins->signature();
  signature.dtype = values->signature().dtype;
  signature.nullable = true;
  return apply_operator(WindowFrame::make(function), std::move(signature), {begins, ends, values});
}

}  // namespace hr
