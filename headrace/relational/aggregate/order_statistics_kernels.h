// SPDX-License-Identifier: Apache-2.0
// Kernels of order statistics of groups for a CUDA device.
#pragma once
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace hr::cuda {

/// Medians, quantiles and numbers of distinct values of groups 0, 1, ..., of which each has rows:
/// `numbers` are theirs (int32, null where a row has none) in order, and `values`, integers or
/// floats, are in order within each group, missing ones last. A column for each of `wanted`. Waits
/// where results may be null.
std::vector<Column> order_statistics(const Column& numbers, int64_t groups, const Column& values,
                                     std::span<const PlannedAggregate> wanted);

}  // namespace hr::cuda
