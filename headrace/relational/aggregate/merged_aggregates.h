// SPDX-License-Identifier: Apache-2.0
// Aggregates of groups, made of those of pieces of their rows.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <optional>
#include <vector>

namespace hr {

/// How one result is made: of partials of each piece, by other aggregates of these.
struct Merging {
  struct Part {
    AggregateRequest request{};
    Aggregate again = Aggregate::kSum;
  };
  std::vector<Part> parts{};  ///< two of a mean: sum and count
  bool in_runs = false;       ///< the order of rows shows in the bits
  bool as_floats = false;     ///< values are read as float64

  /// Of a part: the aggregate of the partials in `column`.
  AggregateRequest request_again(const Part& part, int64_t column) const;
};

/// `dtype`: of the values, if there are any. None where partials do not tell the result.
std::optional<Merging> merging(const AggregateRequest& request, Dtype dtype);

/// Sum over count; null of no values.
NodePtr mean_of(const NodePtr& sum, const NodePtr& count);

}  // namespace hr
