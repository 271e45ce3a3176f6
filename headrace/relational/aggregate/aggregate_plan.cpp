// SPDX-License-Identifier: Apache-2.0
// What a group-by folds for its aggregates: names, dtypes, inputs.
#include "headrace/relational/aggregate/aggregate_plan.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/reduce/reduce.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>

namespace hr {

namespace {

constexpr std::string_view kNames[] = {
    "sum",    "prod",   "mean", "var",      "std",       "min",      "max",    "count",
    "size",   "first",  "last", "any",      "all",       "nunique",  "median", "quantile",
    "idxmin", "idxmax", "corr", "nlargest", "nsmallest", "first_row"};

}  // namespace

std::string_view aggregate_name(Aggregate aggregate) {
  return kNames[static_cast<size_t>(aggregate)];
}

Aggregate aggregate_from_name(std::string_view name) {
  if (name == "first_row") return Aggregate::kFirstRow;  // of drop_duplicates, not of users
  const auto of_users = std::span(kNames).first(std::size(kNames) - 1);
  return enum_from_name<Aggregate>("groupby", "aggregate", name, of_users);
}

bool goes_to_float(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMean:
    case Aggregate::kVariance:
    case Aggregate::kStd:
    case Aggregate::kMedian:
    case Aggregate::kQuantile:
    case Aggregate::kCorrelation:
    case Aggregate::kProduct:
    case Aggregate::kAny:
    case Aggregate::kAll:
      return true;
    default:
      return false;
  }
}

Dtype aggregate_dtype(Aggregate aggregate, Dtype dtype) {
  const auto refuse = [&](std::string_view wanted) {
    throw_error<TypeMismatchError>(
        "groupby", wanted, {{"aggregate", aggregate_name(aggregate)}, {"dtype", dtype.name()}},
        dtype.is_decimal() ? "use astype('float64') first"
                           : "select other columns, or another aggregate");
  };
  if (aggregate == Aggregate::kSize || aggregate == Aggregate::kFirstRow) return TypeId::kInt64;
  if (dtype.is_complex()) refuse("complex numbers cannot be aggregated");
  if (dtype.is_decimal() && goes_to_float(aggregate)) dtype = TypeId::kFloat64;
  const bool numbers = dtype.is_real() || dtype.is_bool();
  switch (aggregate) {
    case Aggregate::kCount:
    case Aggregate::kNunique:
      return TypeId::kInt64;
    case Aggregate::kFirst:
    case Aggregate::kLast:
    case Aggregate::kMin:
    case Aggregate::kMax:
      return dtype;
    case Aggregate::kArgmin:
    case Aggregate::kArgmax:
      return TypeId::kInt64;
    case Aggregate::kLargest:
    case Aggregate::kSmallest:
      if (dtype.is_string() || dtype.is_category()) refuse("the values are strings");
      return dtype;
    case Aggregate::kSum:
      if (dtype.is_decimal()) return Dtype::decimal(kMostDigits, dtype.scale());
      if (dtype.is_duration()) return dtype;
      break;
    default:
      break;
  }
  if (!numbers) refuse("the values are not numbers");
  switch (aggregate) {
    case Aggregate::kSum:
      return reduction_dtype(Reduction::kSum, dtype);
    case Aggregate::kProduct:
      return reduction_dtype(Reduction::kProduct, dtype);
    case Aggregate::kMean:
    case Aggregate::kVariance:
    case Aggregate::kStd:
      return reduction_dtype(Reduction::kMean, dtype);
    case Aggregate::kAny:
    case Aggregate::kAll:
      return TypeId::kBool;
    default:
      return TypeId::kFloat64;
  }
}

AggregatePlan plan_aggregates(const std::vector<Column>& values,
                              const std::vector<AggregateRequest>& requests) {
  AggregatePlan plan;
  std::map<std::tuple<int64_t, int64_t, ValueClass>, int64_t> known;
  const auto input_of = [&](const AggregateRequest& request, ValueClass value_class,
                            bool has_other = false) {
    const std::tuple key(request.column, has_other ? request.other : -1, value_class);
    const auto [place, is_new] = known.try_emplace(key, static_cast<int64_t>(plan.inputs.size()));
    if (!is_new) return place->second;
    AccumulatorInput& made = plan.inputs.emplace_back();
    made.value_class = value_class;
    made.place = request.column;
    if (request.column >= 0) made.values = values[static_cast<size_t>(request.column)];
    made.has_other = has_other;
    if (has_other) made.other = values[static_cast<size_t>(request.other)];
    return place->second;
  };
  const auto accumulator = [&](PlannedAggregate& aggregate, Accumulator wanted) {
    std::vector<Accumulator>& accumulators =
        plan.inputs[static_cast<size_t>(aggregate.input)].accumulators;
    auto found = std::find(accumulators.begin(), accumulators.end(), wanted);
    if (found == accumulators.end()) found = accumulators.insert(accumulators.end(), wanted);
    aggregate.accumulators.push_back(static_cast<size_t>(found - accumulators.begin()));
    plan.needs_second |= is_second(wanted);
  };
  std::map<int64_t, int64_t> ranked;  // by input
  const auto rank = [&](PlannedAggregate& aggregate) {
    const auto [place, is_new] =
        ranked.try_emplace(aggregate.input, static_cast<int64_t>(plan.ranked.size()));
    if (is_new) plan.ranked.push_back({aggregate.input, {}});
    aggregate.ranked = place->second;
    plan.ranked[static_cast<size_t>(place->second)].plans.push_back(plan.aggregates.size());
  };
  for (const AggregateRequest& request : requests) {
    PlannedAggregate made;
    made.request = request;
    const Dtype dtype =
        request.column < 0 ? Dtype() : values[static_cast<size_t>(request.column)].dtype();
    made.dtype = aggregate_dtype(request.aggregate, dtype);
    // Whether a row counts: of floats the value tells.
    const ValueClass presence = dtype.is_floating() ? ValueClass::kFloating : ValueClass::kNothing;
    switch (request.aggregate) {
      case Aggregate::kSize:
        break;
      case Aggregate::kFirstRow:
        made.input = input_of(request, ValueClass::kNothing);
        accumulator(made, Accumulator::kFirst);
        break;
      case Aggregate::kCount:
        made.input = input_of(request, presence);
        break;
      case Aggregate::kFirst:
      case Aggregate::kLast:
        made.input = input_of(request, presence);
        accumulator(made, request.aggregate == Aggregate::kFirst ? Accumulator::kFirst
                                                                 : Accumulator::kLast);
        break;
      case Aggregate::kMean:
      case Aggregate::kVariance:
      case Aggregate::kStd:
        made.input = input_of(request, ValueClass::kFloating);
        accumulator(made, Accumulator::kSum);
        if (request.aggregate != Aggregate::kMean) accumulator(made, Accumulator::kSquares);
        break;
      case Aggregate::kCorrelation:
        made.input = input_of(request, ValueClass::kFloating, true);
        for (const Accumulator each :
             {Accumulator::kSum, Accumulator::kOtherSum, Accumulator::kSquares,
              Accumulator::kOtherSquares, Accumulator::kCross})
          accumulator(made, each);
        break;
      case Aggregate::kMedian:
      case Aggregate::kQuantile:
        made.input = input_of(request, ValueClass::kFloating);
        rank(made);
        break;
      case Aggregate::kNunique:
        made.input = input_of(request, value_class_of(dtype));
        rank(made);
        break;
      case Aggregate::kLargest:
      case Aggregate::kSmallest: {
        made.input = input_of(request, value_class_of(dtype));
        const bool largest = request.aggregate == Aggregate::kLargest;
        accumulator(made, largest ? Accumulator::kLargest : Accumulator::kSmallest);
        int64_t& top = plan.inputs[static_cast<size_t>(made.input)].top;
        top = std::max(top, request.rank + 1);
        break;
      }
      default: {
        constexpr std::pair<Aggregate, Accumulator> kAccumulators[] = {
            {Aggregate::kSum, Accumulator::kSum},
            {Aggregate::kProduct, Accumulator::kProduct},
            {Aggregate::kMin, Accumulator::kMin},
            {Aggregate::kMax, Accumulator::kMax},
            {Aggregate::kAny, Accumulator::kNonZero},
            {Aggregate::kAll, Accumulator::kNonZero},
            {Aggregate::kArgmin, Accumulator::kArgmin},
            {Aggregate::kArgmax, Accumulator::kArgmax}};
        made.input = input_of(request, value_class_of(dtype));
        for (const auto& [aggregate, each] : kAccumulators)
          if (aggregate == request.aggregate) accumulator(made, each);
        break;
      }
    }
    plan.aggregates.push_back(std::move(made));
  }
  return plan;
}

}  // namespace hr
