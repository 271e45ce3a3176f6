// SPDX-License-Identifier: Apache-2.0
// A group-by of joined rows, made of groups that are joined.
#include "headrace/relational/aggregate/early_aggregate.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/relational/aggregate/aggregate_nodes.h"
#include "headrace/relational/join/join_nodes.h"

#include <algorithm>
#include <optional>

namespace hr {

namespace {

/// Columns of a join by the side that they repeat.
class JoinedColumns {
 public:
  explicit JoinedColumns(const Node& join) : join_(join), kind_(join_kind(*join.fields().op)) {}

  bool fits() const { return kind_ == JoinKind::kInner || kind_ == JoinKind::kLeft; }

  JoinKind kind() const { return *kind_; }

  // The input that a column of the join repeats; null for one of the other side.
  NodePtr source(const NodePtr& part, size_t side) const {
    const int64_t place =
        join_.fields().table().sources[side].columns[static_cast<size_t>(part->fields().part())];
    return place < 0 ? nullptr : input(place);
  }

  JoinSides keys() const {
    JoinSides sides;
    const std::vector<int64_t>& right = join_.fields().table().sources[1].inputs;
    for (const auto& [key, other] : join_.fields().table().join_keys()) {
      if (std::ranges::find(right, key) == right.end()) continue;
      sides.left_keys.push_back(input(other));
      sides.right_keys.push_back(input(key));
    }
    return sides;
  }

 private:
  NodePtr input(int64_t place) const { return join_.fields().inputs[static_cast<size_t>(place)]; }

  const Node& join_;
  std::optional<JoinKind> kind_;
};

// What merges the parts of an aggregate; none if nothing does to the same bits.
std::optional<Aggregate> merged_by(const AggregateRequest& request, const NodePtr& values,
                                   JoinKind kind) {
  const bool exact = values && values->signature().dtype.storage().is_integer();
  switch (request.aggregate) {
    case Aggregate::kCount:
      return Aggregate::kSum;
    case Aggregate::kSize:  // a left row without a match is one row
      return kind == JoinKind::kInner ? std::optional(Aggregate::kSum) : std::nullopt;
    case Aggregate::kSum:
      return exact && request.min_count <= 1 && !values->signature().dtype.is_temporal()
                 ? std::optional(Aggregate::kSum)
                 : std::nullopt;
    case Aggregate::kMin:
    case Aggregate::kMax:
      return exact ? std::optional(request.aggregate) : std::nullopt;
    default:
      return {};
  }
}

}  // namespace

NodePtr group_before_join(const GroupsOfJoin& groups, const Node& join) {
  const JoinedColumns columns(join);
  if (!columns.fits() || groups.requests.empty()) return nullptr;
  JoinSides sides = columns.keys();
  if (sides.right_keys.empty()) return nullptr;
  std::vector<JoinColumn> joined;
  for (size_t k = 0; k < groups.keys.size(); ++k) {
    const NodePtr left = columns.source(groups.inputs[static_cast<size_t>(groups.keys[k])], 0);
    if (!left) return nullptr;
    joined.push_back({"key " + std::to_string(k), left, nullptr});
  }
  std::vector<GroupKey> keys;
  for (const NodePtr& key : sides.right_keys)
    keys.push_back({"key " + std::to_string(keys.size()), key});
  std::vector<GroupColumn> parts, merged;
  for (const AggregateRequest& request : groups.requests) {
    NodePtr values;
    if (request.column >= 0) {
      values = columns.source(groups.inputs[static_cast<size_t>(request.column)], 1);
      if (!values) return nullptr;
    }
    const std::optional<Aggregate> by = merged_by(request, values, columns.kind());
    if (!by) return nullptr;
    GroupColumn& part = parts.emplace_back();
    part.name = "part " + std::to_string(parts.size());
    part.request = request;
    part.values = values;
    GroupColumn& whole = merged.emplace_back();
    whole.name = groups.names[groups.keys.size() + merged.size() - 1];
    whole.request.aggregate = *by;
    if (request.aggregate == Aggregate::kSum) whole.request.min_count = request.min_count;
  }
  const size_t num_keys = keys.size();
  // Null keys match each other.
  const NodePtr table = group_by(std::move(keys), parts, {GroupOrder::kAny, false});
  for (size_t k = 0; k < num_keys; ++k)
    sides.right_keys[k] = table_column(table, static_cast<int64_t>(k));
  sides.left_rows = sides.left_keys[0];
  sides.right_rows = sides.right_keys[0];
  for (size_t k = 0; k < parts.size(); ++k)
    joined.push_back(
        {parts[k].name, nullptr, table_column(table, static_cast<int64_t>(num_keys + k))});
  const NodePtr rows = hr::join(sides, joined, columns.kind(), {}, {},
                                columns.kind() == JoinKind::kLeft ? "left" : "inner");
  std::vector<GroupKey> own;
  for (size_t k = 0; k < groups.keys.size(); ++k)
    own.push_back({groups.names[k], table_column(rows, static_cast<int64_t>(k))});
  for (size_t k = 0; k < merged.size(); ++k)
    merged[k].values = table_column(rows, static_cast<int64_t>(groups.keys.size() + k));
  for (const NodePtr& made : {table, rows}) made->fields().tag = join.tag();
  return group_by(std::move(own), std::move(merged), groups.options);
}

}  // namespace hr
