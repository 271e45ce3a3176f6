// SPDX-License-Identifier: Apache-2.0
// Aggregates bound to dtypes, by the table.
#include "headrace/algo/aggregate/aggregate_binding.h"

namespace hr {

namespace {

using Input = BoundAggregate::Input;
using enum AggregateResult;

bool picks_extreme(Aggregate aggregate) {
  return aggregate == Aggregate::kMin || aggregate == Aggregate::kMax;
}

// Group kernels know decimals.
Input decimal_input(const AggregateRow& row, AggregateForm form) {
  if (form == AggregateForm::kGroup || row.input == AggregateInput::kPresence)
    return Input::kValues;
  if (row.decimals_as_floats) return Input::kFloats;
  return row.result == kValue || row.result == kTotal ? Input::kDecimals : Input::kValues;
}

BoundAggregate of_times(const AggregateRow& row, Dtype dtype, AggregateForm form) {
  switch (row.result) {
    case kValue:
    case kTotal:  // group kernels compare and add counts as they are
      if (form == AggregateForm::kGroup) return {};
      return {.input = Input::kCounts, .counted = dtype, .result = dtype};
    case kMoment:
    case kFloat64:
      if (row.aggregate == Aggregate::kStd) {
        const Dtype spans = Dtype::duration(dtype.is_date() ? TimeUnit::kSecond : dtype.unit());
        return {.input = Input::kCounts, .counted = spans, .result = spans};
      }
      return {.input = Input::kOffsets, .counted = dtype, .result = dtype};
    case kBool:
      return {.input = Input::kCounts, .counted = dtype, .result = TypeId::kBool};
    case kInt64:
      break;
  }
  return {};
}

}  // namespace

BoundAggregate bind_aggregate(Aggregate aggregate, Dtype dtype, AggregateForm form) {
  const AggregateRow& row = aggregate_row(aggregate);
  const bool of_column = form == AggregateForm::kColumn;
  if (dtype.is_decimal()) return {.input = decimal_input(row, form)};
  if (dtype.is_string() || dtype.is_category())
    return {.input = of_column && picks_extreme(aggregate) ? Input::kStrings : Input::kValues};
  if (!dtype.is_temporal() && !dtype.is_duration()) return {};
  const std::string_view kinds = of_column ? row.columns : row.groups;
  return kinds.find(dtype.is_duration() ? 'm' : 'M') == kinds.npos ? BoundAggregate{}
                                                                   : of_times(row, dtype, form);
}

}  // namespace hr
