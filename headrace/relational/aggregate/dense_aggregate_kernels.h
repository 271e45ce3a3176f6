// SPDX-License-Identifier: Apache-2.0
// Kernels of dense_aggregate on a CUDA device.
#pragma once
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <cstdint>
#include <vector>

namespace hr::cuda {

/// Groups by keys of few slots, over columns on one device; the rows are at least one, the inputs
/// and folds those that `why_no_dense_kernel` takes. Each run of `run_rows` has states of its own;
/// the rows of a slot are folded in their order, and the runs in theirs: the bits of the host. The
/// result is on the host. Waits for the kernels.
AggregatePartition dense_aggregate(const AggregatePlan& plan, const NormalizedKeys& packed,
                                   int64_t run_rows, bool wants_first);

/// The same where each slot below `groups` has rows, as columns on the device, a group a slot; each
/// aggregate has one accumulator or none, and no result is a bool. Waits for how many are null.
std::vector<Column> dense_columns(const AggregatePlan& plan, const NormalizedKeys& packed,
                                  int64_t run_rows, int64_t groups);

}  // namespace hr::cuda
