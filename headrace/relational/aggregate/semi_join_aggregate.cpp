// SPDX-License-Identifier: Apache-2.0
// Group-by of which only some keys are needed.
#include "headrace/relational/aggregate/semi_join_aggregate.h"

#include "headrace/relational/join/join.h"
#include "headrace/relational/join/semi_join_filter.h"

#include <optional>

namespace hr {

namespace {

// A group costs more than a lookup of its key, so half of the rows may stay.
constexpr int64_t kShare = 2;
constexpr int64_t kSmaller = 4;

// Which rows of `where` have wanted keys; null: all are taken.
std::optional<Column> rows_among(std::span<const Value> given, const std::vector<SemiJoinKey>& sets,
                                 const Mask* where) {
  std::optional<Column> result;
  for (const SemiJoinKey& each : sets) {
    const auto& key = std::get<Column>(given[static_cast<size_t>(each.key)]);
    const auto& set = std::get<Column>(given[static_cast<size_t>(each.place)]);
    if (!is_selective({key, set}, kShare, kSmaller)) continue;
    const std::optional<Mask> before = result ? std::optional<Mask>(*result) : std::nullopt;
    result = is_in(key, set, before ? &*before : where);
  }
  return result;
}

}  // namespace

Grouped semi_join_aggregate(std::span<const Value> given, const std::vector<int64_t>& keys,
                            const std::vector<SemiJoinKey>& sets,
                            std::vector<AggregateRequest> requests, GroupOptions options) {
  const std::optional<Column> rows = rows_among(given, sets, nullptr);
  if (!rows) return group_by(given, keys, std::move(requests), options);
  const Mask mask(*rows);
  std::vector<Value> picked(given.begin(), given.end());
  std::vector<bool> wanted(given.size());
  for (const int64_t key : keys) wanted[static_cast<size_t>(key)] = true;
  for (const AggregateRequest& request : requests)
    for (const int64_t place : {request.column, request.other})
      if (place >= 0) wanted[static_cast<size_t>(place)] = true;
  for (size_t k = 0; k < picked.size(); ++k)
    if (wanted[k]) picked[k] = filter(std::get<Column>(given[k]), mask);
  return group_by(picked, keys, std::move(requests), options);
}

Grouped semi_join_aggregate(const RowInputs& given, const std::vector<int64_t>& keys,
                            const std::vector<SemiJoinKey>& sets,
                            const std::vector<AggregateRequest>& requests, GroupOptions options) {
  const std::optional<Mask> picks = given.mask ? std::optional<Mask>(given.picks()) : std::nullopt;
  std::optional<Column> rows = rows_among(given.given, sets, picks ? &*picks : nullptr);
  if (!rows) return group_by(given, keys, requests, options);
  RowInputs fewer = given;
  fewer.mask = std::move(*rows);
  return group_by(fewer, keys, requests, options);
}

}  // namespace hr
