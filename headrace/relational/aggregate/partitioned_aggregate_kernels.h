// SPDX-License-Identifier: Apache-2.0
// Kernels of partitioned_aggregate on a CUDA device.
#pragma once
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <cstdint>
#include <vector>

namespace hr::cuda {

/// The keys of `count` rows, `step` rows apart. Waits.
std::vector<uint64_t> sampled_keys(const NormalizedKeys& packed, int64_t count, int64_t step);

/// Groups by keys of a domain of at most 2^32, over columns on one device that
/// `why_no_partitioned_kernel` takes: columns there, in the order of the keys. The rows of a group
/// are folded in their order: the bits of the host. `groups`: each key below it has rows; 0: waits
/// for the number of groups.
Grouped partitioned_aggregate(const AggregatePlan& plan, const NormalizedKeys& packed,
                              int64_t groups);

}  // namespace hr::cuda
