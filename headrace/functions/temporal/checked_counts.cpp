// SPDX-License-Identifier: Apache-2.0
// Counts row by row, each checked.
#include "headrace/functions/temporal/checked_counts.h"

#include "headrace/algo/select/map_rows.h"
#include "headrace/base/error.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/graph/constants.h"

#include <optional>
#include <utility>

namespace hr {

namespace {

struct CheckedCounts final : OperatorOf<CheckedCounts> {
  Op op = Op::kAdd;
  bool has_number = false;  // in place of one column
  bool number_first = false;
  int64_t number = 0;

  std::string_view name() const override { return op_row(op).name; }

  std::string arguments() const override { return "nanoseconds"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return has_number ? 1 : 2; }

  Cost cost(const InputEstimates&) const override { return {.nanoseconds = 2}; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& column = std::get<Column>(inputs[0]);
    const Column* const other = has_number ? nullptr : &std::get<Column>(inputs[1]);
    const int64_t rows = column.num_rows();
    const int64_t* const own = rows > 0 ? column.values<int64_t>().data() : nullptr;
    const int64_t* const others = other && rows > 0 ? other->values<int64_t>().data() : nullptr;
    return map_rows_or_null<int64_t>(column, TypeId::kInt64, [=, this](int64_t row, int64_t* out) {
      if (other && other->is_null(row)) return false;
      int64_t a = own[row], b = others ? others[row] : number;
      if (number_first) std::swap(a, b);
      const bool wraps = op == Op::kAdd        ? __builtin_add_overflow(a, b, out)
                         : op == Op::kSubtract ? __builtin_sub_overflow(a, b, out)
                                               : __builtin_mul_overflow(a, b, out);
      if (wraps)
        throw_error<InvalidArgumentError>(
            name(), "the result is out of range of 64 bits",
            {{"row", row}, {"left", a}, {"right", b}},
            "use dt.as_unit('us') for times, a cast to DOUBLE or HUGEINT for integers in SQL");
      return true;
    });
  }

  static auto parameters(auto& self) {
    return std::tie(self.op, self.has_number, self.number_first, self.number);
  }
};

bool is_counts(const NodePtr& node) {
  const Signature& signature = node->signature();
  return signature.form == Form::kColumn && signature.dtype == TypeId::kInt64;
}

std::optional<int64_t> number_of(const NodePtr& node) {
  const std::optional<Scalar> constant = constant_of(node);
  if (!constant || constant->is_null() || !constant->dtype().is_integer()) return {};
  return constant->as<int64_t>();
}

}  // namespace

NodePtr checked_counts(Op op, const NodePtr& left, const NodePtr& right) {
  if (op != Op::kAdd && op != Op::kSubtract && op != Op::kMultiply) return nullptr;
  std::optional<int64_t> first = number_of(left), last = number_of(right);
  if (first && last) (is_counts(left) ? first : last).reset();  // a column may repeat one number
  if (!(first || is_counts(left)) || !(last || is_counts(right))) return nullptr;
  Signature signature = (first ? right : left)->signature();
  if (!first && !last) signature.nullable |= right->signature().nullable;
  std::vector<NodePtr> inputs;
  if (!first) inputs.push_back(left);
  if (!last) inputs.push_back(right);
  return apply_operator(
      CheckedCounts::make(op, first || last, first.has_value(), first ? *first : last.value_or(0)),
      std::move(signature), std::move(inputs));
}

}  // namespace hr
