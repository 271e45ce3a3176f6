// SPDX-License-Identifier: Apache-2.0
// Weak stand-ins until the evaluator lands; deleted with it.
#include "headrace/base/error.h"
#include "headrace/plan/evaluate.h"

namespace hr {

#define HR_PENDING __attribute__((weak))
namespace {
[[noreturn]] void pending() {
  throw_error<UnsupportedError>("evaluate", "not landed");
}
}  // namespace

HR_PENDING std::vector<Value> evaluate(const Program&, std::span<const Value>, const Shape&) {
  pending();
}
HR_PENDING const OpRow& op_row(Op) {
  pending();
}
HR_PENDING Op op_from_name(std::string_view) {
  pending();
}
HR_PENDING Dtype result_dtype(Op, std::span<const Operand>) {
  pending();
}
HR_PENDING Shape broadcast_shape(std::string_view, std::span<const Shape>) {
  pending();
}
HR_PENDING std::string_view reduction_name(Reduction) {
  pending();
}
HR_PENDING Reduction reduction_from_name(std::string_view) {
  pending();
}
HR_PENDING Dtype reduction_dtype(Reduction, Dtype) {
  pending();
}
HR_PENDING Tensor reduce_axis(const Tensor&, Reduction, int64_t, ReduceOptions, bool) {
  pending();
}
HR_PENDING int Program::input(int, Dtype, bool) {
  pending();
}
HR_PENDING int Program::constant(const Scalar&) {
  pending();
}
HR_PENDING int Program::apply(Op, std::span<const int>) {
  pending();
}
HR_PENDING int Program::cast(int, Dtype) {
  pending();
}
HR_PENDING int Program::add_column(int) {
  pending();
}
HR_PENDING int Program::add_tensor(int) {
  pending();
}
HR_PENDING int Program::add_reduction(int, Reduction, ReduceOptions) {
  pending();
}

}  // namespace hr
