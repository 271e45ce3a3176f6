// SPDX-License-Identifier: Apache-2.0
// What a group-by folds for its aggregates: inputs and their accumulators, from the table.
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace hr {

namespace {

// The class in which an aggregate reads values of a dtype.
ValueClass class_read(const AggregateRow& row, Dtype dtype) {
  switch (row.input) {
    case AggregateInput::kNoColumn:
      return ValueClass::kNothing;
    case AggregateInput::kPresence:  // of floats the value tells
      return dtype.is_floating() ? ValueClass::kFloating : ValueClass::kNothing;
    case AggregateInput::kValues:
      return value_class_of(dtype);
    case AggregateInput::kFloats:
      return ValueClass::kFloating;
  }
  return ValueClass::kNothing;
}

class AggregatePlanner {
 public:
  explicit AggregatePlanner(const std::vector<Column>& values) : values_(values) {}

  void add(const AggregateRequest& request) {
    const AggregateRow& row = aggregate_row(request.aggregate);
    PlannedAggregate made;
    made.request = request;
    const Dtype dtype =
        request.column < 0 ? Dtype() : values_[static_cast<size_t>(request.column)].dtype();
    made.dtype = aggregate_dtype(request.aggregate, dtype, AggregateForm::kGroup);
    if (row.input != AggregateInput::kNoColumn || !row.accumulators.empty())
      made.input = input_of(request, class_read(row, dtype), row.has(Accumulator::kOtherSum));
    for (const Accumulator each : row.accumulators) accumulate(made, each);
    if (row.ranked) rank(made);
    if (row.fewest == kRankValues) {
      int64_t& top = plan_.inputs[static_cast<size_t>(made.input)].top;
      top = std::max(top, request.rank + 1);
    }
    plan_.aggregates.push_back(std::move(made));
  }

  AggregatePlan take() { return std::move(plan_); }

 private:
  int64_t input_of(const AggregateRequest& request, ValueClass value_class, bool has_other) {
    const std::tuple key(request.column, has_other ? request.other : -1, value_class);
    const auto [place, is_new] =
        inputs_.try_emplace(key, static_cast<int64_t>(plan_.inputs.size()));
    if (!is_new) return place->second;
    AccumulatorInput& made = plan_.inputs.emplace_back();
    made.value_class = value_class;
    made.place = request.column;
    if (request.column >= 0) made.values = values_[static_cast<size_t>(request.column)];
    made.has_other = has_other;
    if (has_other) made.other = values_[static_cast<size_t>(request.other)];
    return place->second;
  }

  void accumulate(PlannedAggregate& aggregate, Accumulator wanted) {
    std::vector<Accumulator>& accumulators =
        plan_.inputs[static_cast<size_t>(aggregate.input)].accumulators;
    auto found = std::find(accumulators.begin(), accumulators.end(), wanted);
    if (found == accumulators.end()) found = accumulators.insert(accumulators.end(), wanted);
    aggregate.accumulators.push_back(static_cast<size_t>(found - accumulators.begin()));
    plan_.needs_second |= is_second(wanted);
  }

  void rank(PlannedAggregate& aggregate) {
    const auto [place, is_new] =
        ranked_.try_emplace(aggregate.input, static_cast<int64_t>(plan_.ranked.size()));
    if (is_new) plan_.ranked.push_back({aggregate.input, {}});
    aggregate.ranked = place->second;
    plan_.ranked[static_cast<size_t>(place->second)].plans.push_back(plan_.aggregates.size());
  }

  const std::vector<Column>& values_;
  AggregatePlan plan_{};
  std::map<std::tuple<int64_t, int64_t, ValueClass>, int64_t> inputs_{};
  std::map<int64_t, int64_t> ranked_{};  // by input
};

}  // namespace

AggregatePlan plan_aggregates(const std::vector<Column>& values,
                              const std::vector<AggregateRequest>& requests) {
  AggregatePlanner planner(values);
  for (const AggregateRequest& request : requests) planner.add(request);
  return planner.take();
}

}  // namespace hr
