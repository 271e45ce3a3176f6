// SPDX-License-Identifier: Apache-2.0
// Group-by over shards: each groups its rows, and the groups of all are grouped again.
#pragma once
#include "headrace/plan/graph/shards.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <string>
#include <vector>

namespace hr {

/// A group-by of inputs: keys and requests name their places, `names` the keys and the results.
struct ShardedGroups {
  const std::vector<std::string>& names;
  const std::vector<int64_t>& keys;
  const std::vector<AggregateRequest>& requests;
  GroupOptions options{};
};

/// The columns of its result at the first device, with the bits of one group-by of all rows. Sums
/// and means of floats, where rows are folded in runs: a shard's runs are groups of their own, and
/// are added in order; where a group is one chain through all shards, the first device gets all
/// rows. None where an aggregate has no such way.
std::vector<NodePtr> group_shards(const ShardedGroups& groups, ShardedInputs& inputs, size_t count);

}  // namespace hr
