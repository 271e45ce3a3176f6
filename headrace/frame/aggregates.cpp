// SPDX-License-Identifier: Apache-2.0
// Bound aggregates as nodes of the rooms below.
#include "headrace/frame/aggregates.h"

#include "headrace/algo/aggregate/aggregate_binding.h"
#include "headrace/functions/cast/float_to_int.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/functions/temporal/time_counts.h"
#include "headrace/functions/temporal/time_reduce.h"
#include "headrace/plan/graph/view.h"
#include "headrace/relational/order/sort_nodes.h"
#include "headrace/relational/rows/row_nodes.h"
#include "headrace/relational/rows/struct_codes.h"

namespace hr {

namespace {

using Input = BoundAggregate::Input;

bool is_timely(Dtype dtype) {
  return dtype.is_temporal() || dtype.is_duration();
}

NodePtr reduce_numbers(Aggregate aggregate, const NodePtr& column, int64_t ddof) {
  return reduce(aggregate, column, {.skip_nan = true, .empty_is_null = true, .ddof = ddof});
}

// Floats that counts gave as times or durations, cut towards zero.
NodePtr times_from_floats(const NodePtr& numbers, const NodePtr& base, Dtype dtype) {
  const Array below = elementwise(Op::kFloor, {numbers});
  Array counts = float_to_int(below, TypeId::kInt64);
  if (base) counts = counts + Array(base);
  const Array is_cut = elementwise(Op::kBitwiseAnd, {counts<0, Array(numbers)> below});
  return times_from_counts(counts + Array(cast(is_cut, TypeId::kInt64)), dtype);
}

// What a group aggregate is computed of, and how its results are read.
struct GroupInput {
  BoundAggregate bound{};
  NodePtr base{};

  NodePtr finished(const NodePtr& result) const {
    if (!is_timely(bound.result)) return result;
    return times_from_floats(result, base, bound.result);
  }
};

GroupInput bind_group_column(GroupColumn& column) {
  if (!column.values) return {};
  GroupInput input{.bound =
                       bind_aggregate(column.request.aggregate, column.values->signature().dtype,
                                      AggregateForm::kGroup)};
  if (input.bound.input == Input::kCounts || input.bound.input == Input::kOffsets) {
    const TimeOffsets offsets =
        time_offsets(column.values, input.bound.counted, input.bound.input == Input::kOffsets);
    column.values = offsets.counts;
    input.base = offsets.base;
  }
  return input;
}

}  // namespace

NodePtr aggregate_column(Aggregate aggregate, const NodePtr& column, int64_t ddof) {
  switch (bind_aggregate(aggregate, column->signature().dtype, AggregateForm::kColumn).input) {
    case Input::kFloats:
      return reduce_numbers(aggregate, decimal_to_float(column), ddof);
    case Input::kDecimals:
      return decimal_reduction(aggregate_name(aggregate, AggregateForm::kColumn), column);
    case Input::kStrings:
      return take(column, argsort({column}, {{.descending = aggregate == Aggregate::kMax}}, 1));
    case Input::kCounts:
    case Input::kOffsets:
      return time_reduction(aggregate, column, ddof);
    case Input::kValues:
      break;
  }
  return reduce_numbers(aggregate, column, ddof);
}

NodePtr column_quantiles(const NodePtr& column, std::vector<double> q,
                         Interpolation interpolation) {
  if (is_timely(column->signature().dtype))
    return time_quantiles(column, std::move(q), interpolation);
  return quantile(decimal_to_float(column), std::move(q), interpolation);
}

NodePtr correlated_numbers(const NodePtr& column) {
  const Dtype dtype = column->signature().dtype;
  return is_timely(dtype) ? time_offsets(column, dtype, true).counts : decimal_to_float(column);
}

std::vector<NodePtr> group_columns(const std::vector<GroupKey>& keys,
                                   std::vector<GroupColumn> columns, GroupOptions options) {
  std::vector<GroupInput> inputs;
  for (GroupColumn& column : columns) inputs.push_back(bind_group_column(column));
  const NodePtr table = group_by(keys, std::move(columns), options);
  std::vector<NodePtr> results;
  for (size_t i = 0; i < keys.size() + inputs.size(); ++i) {
    const NodePtr part = table_column(table, static_cast<int64_t>(i));
    results.push_back(i < keys.size() ? values_of_key(keys[i].values, part)
                                      : inputs[i - keys.size()].finished(part));
  }
  return results;
}

NodePtr transform_groups(const std::vector<NodePtr>& keys, GroupColumn column,
                         GroupOptions options) {
  const GroupInput input = bind_group_column(column);
  return input.finished(group_transform(keys, column, options));
}

}  // namespace hr
