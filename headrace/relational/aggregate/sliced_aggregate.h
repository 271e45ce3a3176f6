// SPDX-License-Identifier: Apache-2.0
// Group-by of more rows than a device has room for, in slices that fit.
#pragma once
#include "headrace/base/place.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <optional>
#include <vector>

namespace hr {

/// `group_by` of columns on the host, with the same bits, by slices that `place` groups: ranges of
/// keys, or of few groups whole runs of rows, whose partials the host merges in order. None where
/// that does not tell the result: aggregates that give numbers of rows or read strings, variances
/// and the like of few groups, sums of floats by few keys that are far apart. Throws
/// OutOfMemoryError when a slice of `slice_bytes` does not fit there.
std::optional<Grouped> group_in_slices(const std::vector<Column>& keys,
                                       const std::vector<Column>& values,
                                       const std::vector<AggregateRequest>& requests,
                                       GroupOptions options, Place place, int64_t slice_bytes);

}  // namespace hr
