// SPDX-License-Identifier: Apache-2.0
// Plans over values in shards: what runs at each device, and what goes from one to another.
#pragma once
#include "headrace/plan/execute/physical_plan.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace hr {

/// Replaces the nodes of an optimized plan that read shards by nodes at their devices, whose rows
/// one after the other are those of the node, bit for bit; other operators get all rows at the
/// first device. Values of roots are gathered on the host, and their shards are kept for later
/// plans; with `kept`, the shards of the user's nodes that it gets are all that is made. Nothing
/// changes in a plan without shards.
using KeptShards = std::vector<std::pair<NodePtr, std::shared_ptr<const Shards>>>;
void shard(LogicalPlan& plan, KeptShards* kept = nullptr);

/// Whether a plan of these steps might read shards: then it has to be made.
bool may_read_shards(std::span<const PlanStep> steps);

}  // namespace hr
