// SPDX-License-Identifier: Apache-2.0
// Aggregates of columns of any dtype, whole and in groups: what the table of aggregates says, as
// nodes.
#pragma once
#include "headrace/algo/reduce/quantile.h"
#include "headrace/relational/aggregate/aggregate_nodes.h"

#include <vector>

namespace hr {

/// The lazy aggregate of a whole column, missing values left out: of numbers and bools an array of
/// one element (NaN where there are too few values; minimum and maximum of integers without a value
/// throw), of decimals their exact sum, minimum and maximum, else as float64. Sums, means, standard
/// deviations, minima and maxima of times and durations, and extremes of strings, are columns of
/// one row, null or without a row if there is no value. Throws TypeMismatchError for dtypes that an
/// aggregate does not take.
HR_API NodePtr aggregate_column(Aggregate aggregate, const NodePtr& column, int64_t ddof = 0);

/// The quantiles `q`, from 0 to 1, as many values: of numbers and decimals an array, of times and
/// durations a column of their dtype, null of no value.
HR_API NodePtr column_quantiles(const NodePtr& column, std::vector<double> q,
                                Interpolation interpolation);

/// A column as numbers that correlate as its values do: decimals as float64, times and durations
/// relative to about the least one.
HR_API NodePtr correlated_numbers(const NodePtr& column);

/// As `group_by`, for times and durations too: the columns of the keys, then of the aggregates.
HR_API std::vector<NodePtr> group_columns(const std::vector<GroupKey>& keys,
                                          std::vector<GroupColumn> columns, GroupOptions options);

/// As `group_transform`, for times and durations too.
HR_API NodePtr transform_groups(const std::vector<NodePtr>& keys, GroupColumn column,
                                GroupOptions options);

}  // namespace hr
