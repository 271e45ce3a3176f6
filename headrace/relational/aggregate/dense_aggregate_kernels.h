// SPDX-License-Identifier: Apache-2.0
// Kernels of dense_aggregate on a CUDA device.
#pragma once
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <cstdint>

namespace hr::cuda {

/// Groups by keys of few slots, over columns on one device; the rows are at least one, the inputs
/// and folds those that `why_no_dense_kernel` takes. Each run of `run_rows` has states of its own;
/// the rows of a slot are folded in their order, and the runs in theirs: the bits of the host. The
/// result is on the host. Waits for the kernels.
AggregatePartition dense_aggregate(const AggregatePlan& plan, const NormalizedKeys& packed,
                                   int64_t run_rows, bool wants_first);

}  // namespace hr::cuda
