// SPDX-License-Identifier: Apache-2.0
// GroupBy: aggregates of the rows that share a key.
#include "headrace/frame/group_by.h"

#include "headrace/frame/aggregates.h"
#include "headrace/frame/frame.h"

#include <utility>

namespace hr {

namespace {

constexpr std::string_view kOp = "groupby";

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
  for (const Aggregation& each : aggregations) {
    const auto place = static_cast<size_t>(find_column(kOp, names_, each.column));
    const AggregateRequest request{
        .aggregate = aggregate_from_name(each.aggregate, AggregateForm::kGroup),
        .quantile = each.q,
        .ddof = each.ddof,
        .min_count = each.min_count};
    columns.push_back({each.name, request, nodes_[place]});
  }
  return made(std::move(columns));
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
