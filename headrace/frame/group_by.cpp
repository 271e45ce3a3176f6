// SPDX-License-Identifier: Apache-2.0
// GroupBy: aggregates of the rows that share a key.
#include "headrace/frame/group_by.h"

#include "headrace/frame/aggregates.h"
#include "headrace/frame/frame.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/plan/bind/binder.h"
#include "headrace/plan/graph/view.h"

#include <optional>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kOp = "groupby";

// ---- times and durations as numbers ----------------------------------------------------------

/// An aggregate of times or durations, computed of their counts: floats, which are relative to
/// `base` and become `dtype`.
struct CountsAggregate {
  Series counts;
  Series base;
  Dtype dtype;
};

Series counts_of(const Series& column, Dtype dtype) {
  if (count_unit(column.dtype()) != count_unit(dtype))
    return rescale_unit(column, dtype.unit(), false);
  return Series(retype(column, column.dtype().storage())).astype(TypeId::kInt64);
}

// About the least of the counts, from which floats hold the distance more exactly; 0 for counts too
// far apart.
Series base_of(const Series& counts) {
  const Series floats = counts.astype(TypeId::kFloat64);
  const Series least = floats.min();
  return Series::elementwise(Op::kWhere, {floats.max() - least < 0x1p62, least, Series(0.0)})
      .astype(TypeId::kInt64);
}

std::optional<CountsAggregate> counts_aggregate(Aggregate aggregate, const Series& column) {
  const Dtype own = column.dtype();
  const DtypeKind kind = kind_of(own);
  if (kind != DtypeKind::kTime && kind != DtypeKind::kDuration) return {};
  switch (aggregate) {
    case Aggregate::kMean:
    case Aggregate::kMedian:
    case Aggregate::kQuantile: {
      const Series counts = counts_of(column, own), base = base_of(counts);
      return CountsAggregate{counts - base, base, own};
    }
    case Aggregate::kStd: {
      const Dtype dtype = Dtype::duration(count_unit(own).value_or(TimeUnit::kSecond));
      return CountsAggregate{counts_of(column, dtype), 0, dtype};
    }
    default:
      return {};
  }
}

// Truncated, as pandas has it.
Series of_counts(const Series& numbers, const CountsAggregate& from) {
  const Series below = Series::elementwise(Op::kFloor, {numbers});
  const Series whole = below.astype(TypeId::kInt64) + from.base;
  const Series up = ((whole < 0) & (numbers > below)).astype(TypeId::kInt64);
  return Series(retype((whole + up).astype(from.dtype.storage()), from.dtype));
}

}  // namespace

GroupBy::GroupBy(const Frame& frame, const std::vector<std::string>& keys, GroupOptions options)
    : names_(frame.columns()), nodes_(frame.nodes()), options_(options) {
  for (const std::string& name : keys) {
    const auto place = static_cast<size_t>(find_column(kOp, names_, name));
    keys_.push_back({name, nodes_[place]});
  }
}

Frame GroupBy::agg(const std::vector<Aggregation>& aggregations) const {
  std::vector<GroupColumn> columns;
  std::vector<std::pair<std::string, CountsAggregate>> of_times;
  for (const Aggregation& each : aggregations) {
    const auto place = static_cast<size_t>(find_column(kOp, names_, each.column));
    const AggregateRequest request{
        .aggregate = aggregate_from_name(each.aggregate, AggregateForm::kGroup),
        .quantile = each.q,
        .ddof = each.ddof,
        .min_count = each.min_count};
    NodePtr values = nodes_[place];
    const bool is_test =
        request.aggregate == Aggregate::kAny || request.aggregate == Aggregate::kAll;
    if (is_test && values->signature().dtype.is_duration()) values = retype(values, TypeId::kInt64);
    if (const auto counts = counts_aggregate(request.aggregate, values)) {
      of_times.emplace_back(each.name, *counts);
      values = counts->counts;
    }
    columns.push_back({each.name, request, std::move(values)});
  }
  Frame frame = made(std::move(columns));
  for (const auto& [name, counts] : of_times)
    frame = frame.assign(name, of_counts(frame[name], counts));
  return frame;
}

Frame GroupBy::size() const {
  return made({{"size", {.aggregate = Aggregate::kSize}}});
}

Frame GroupBy::made(std::vector<GroupColumn> columns) const {
  const std::vector<NodePtr> nodes = group_columns(keys_, columns, options_);
  std::vector<std::pair<std::string, Series>> named;
  for (size_t i = 0; i < nodes.size(); ++i)
    named.emplace_back(i < keys_.size() ? keys_[i].name : columns[i - keys_.size()].name, nodes[i]);
  return Frame(named);
}

}  // namespace hr
