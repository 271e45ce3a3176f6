// SPDX-License-Identifier: Apache-2.0
// Series: methods as nodes of the rooms below.
#include "headrace/frame/series.h"

#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/frame/aggregates.h"
#include "headrace/frame/apply.h"
#include "headrace/frame/astype.h"
#include "headrace/functions/strings/categories.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/unique_keys.h"
#include "headrace/plan/graph/view.h"
#include "headrace/relational/aggregate/aggregate_nodes.h"
#include "headrace/relational/join/join_nodes.h"
#include "headrace/relational/rows/row_nodes.h"

namespace hr {

Series Series::elementwise(Op op, const std::vector<NodePtr>& operands) {
  const std::vector<ApplyOperand> given(operands.begin(), operands.end());
  return hr::apply(op, given, NullRule::kPlainComparisons);
}

Series apply(Op op, const Series& left, const Literal& right) {
  return hr::apply(op, std::vector<ApplyOperand>{{NodePtr(left)}, {right}},
                   NullRule::kPlainComparisons);
}

Series apply(Op op, const Literal& left, const Series& right) {
  return hr::apply(op, std::vector<ApplyOperand>{{left}, {NodePtr(right)}},
                   NullRule::kPlainComparisons);
}

Column Series::column() const {
  const Value value = to_place(force(node_), host);
  if (const auto* column = std::get_if<Column>(&value)) return *column;
  if (const auto* tensor = std::get_if<Tensor>(&value)) return as_column(*tensor);
  throw_error<TypeMismatchError>("column", "expected a column",
                                 {{"dimensions", node_->signature().shape.size()}});
}

Array Series::reduce(Aggregate aggregate, int64_t ddof) const {
  return aggregate_column(aggregate, node_, ddof);
}

Array Series::quantile(double q) const {
  const NodePtr one = column_quantiles(node_, {q}, Interpolation::kLinear);
  if (one->signature().form == Form::kColumn) return one;
  return strided_view(one, {{.begin = 0, .step = 0, .count = 1}});
}

Array Series::nunique() const {
  if (are_unique(std::span(&node_, 1))) return count();
  return count_distinct(node_, true);
}

Series Series::isna() const {
  const NodePtr null = hr::elementwise(Op::kIsNull, {node_});
  if (!dtype().is_floating()) return null;
  const ApplyOperand own{node_};
  return Series(null) | Series(hr::apply(Op::kIsNan, {&own, 1}, NullRule::kMissingIsFalse));
}

namespace {

// Filled values with the categories that they had; runs the plan.
Series with_own_categories(const Series& own, const Series& filled) {
  const DictionaryPtr known = own.column().dictionary();
  const Series made = set_categories(astype(filled, TypeId::kCategory), lazy_value(known->values()),
                                     known->is_ordered());
  const Column values = filled.column(), again = made.column();
  for (int64_t row = 0; row < values.num_rows(); ++row)
    if (again.is_null(row) && !values.is_null(row))
      throw_error<TypeMismatchError>("fillna", "the value is not among the categories",
                                     {{"row", row}, {"categories", known->size()}});
  return made;
}

}  // namespace

Series Series::fillna(const Series& value) const {
  const Series filled = elementwise(Op::kFillNull, {node_, value});
  if (dtype().is_category()) return with_own_categories(*this, filled);
  if (!dtype().is_floating()) return filled;
  return hr::elementwise(Op::kWhere, {hr::elementwise(Op::kIsNan, {filled}), value, filled});
}

Series Series::filled(const Literal& value) const {
  const Series made = hr::apply(Op::kFillNull, *this, value);
  return dtype().is_category() ? with_own_categories(*this, made) : made;
}

Series Series::astype(Dtype dtype) const {
  return hr::astype(node_, dtype);
}

Series Series::isin(const Series& values) const {
  return is_in(node_, values);
}

Series Series::shift(int64_t periods) const {
  return hr::shift(node_, periods);
}

Series Series::unique() const {
  const NodePtr groups =
      hr::group_by({{"key", node_}}, {}, {.order = GroupOrder::kFirstSeen, .drop_missing = false});
  return table_column(groups, 0);
}

Array asarray(const Series& series) {
  return as_tensor(series);
}

}  // namespace hr
