// SPDX-License-Identifier: Apache-2.0
// One time or duration of many.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/reduce/quantile.h"
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// The sum, mean, standard deviation, minimum or maximum of dates, timestamps or durations as a
/// column of one row, in the dtype that `bind_aggregate` says; means are cut towards zero. Null of
/// no value, but 0 as the sum. Throws TypeMismatchError where the aggregate does not take the
/// dtype, InvalidArgumentError for a result that does not fit.
HR_API NodePtr time_reduction(Aggregate aggregate, const NodePtr& column, int64_t ddof);

/// The quantiles `q` of the values, a column of as many rows, null of no value; between two ranks
/// as `quantile` has it, cut towards zero.
HR_API NodePtr time_quantiles(const NodePtr& column, std::vector<double> q,
                              Interpolation interpolation);

/// A column of times or durations as integers for an aggregate by floats: counts of the unit of
/// `counted` from a base on, about the least one (0 if they are too far apart).
struct TimeOffsets {
  NodePtr counts;
  NodePtr base{};  ///< null: counts are not relative
};
HR_API TimeOffsets time_offsets(const NodePtr& column, Dtype counted, bool relative);

}  // namespace hr
