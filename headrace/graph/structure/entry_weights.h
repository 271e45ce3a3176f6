// SPDX-License-Identifier: Apache-2.0
// Weights of edges in the order of entries.
#pragma once
#include "headrace/data/column.h"
#include "headrace/graph/structure/csr.h"

#include <string_view>

namespace hr {

enum class WeightRule : uint8_t { kAny, kNotNegative, kPositive };

/// Throws InvalidArgumentError for NaN, infinity and, as `rule` says, negative weights and 0, with
/// the edge's row.
HR_API void check_weights(std::string_view op, const Column& weights, WeightRule rule);

/// The weight of each entry, float64 [entries], of `weights`, float64 for each edge that the
/// entries count; checked.
HR_API Buffer entry_weights(std::string_view op, const Csr& csr, const Column& weights,
                            WeightRule rule);

}  // namespace hr
