// SPDX-License-Identifier: Apache-2.0
// Deferred operations on rows: pick by mask or position, quantiles, fills.
#pragma once
#include "headrace/algo/reduce/quantile.h"
#include "headrace/algo/scan/cumulative.h"
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// Rows of a column or array where the bool `mask` is true, in order; a null in the mask is false.
/// All selections by one mask share a row domain. Throws TypeMismatchError unless the mask is bool,
/// InvalidArgumentError when mask and rows belong to different frames or lengths.
HR_API NodePtr filter(const NodePtr& rows, const NodePtr& mask);

/// Rows at the integer `positions`; negative ones count from the end.
HR_API NodePtr take(const NodePtr& rows, const NodePtr& positions);

/// A column in a dtype of which `common_dtype` or `bind_keys` says that it holds the values.
HR_API NodePtr to_common_dtype(const NodePtr& column, Dtype dtype);

/// The rows of all columns, one after the other, in the dtype they have in common; see
/// `common_dtype`. Throws TypeMismatchError for dtypes without one, naming two.
HR_API NodePtr concat(const std::vector<NodePtr>& columns);

/// A column with a row for each 0-d array, in the dtype that they have in common.
HR_API NodePtr stack(const std::vector<NodePtr>& values);

/// Row r is row r - periods; vacated rows are null.
HR_API NodePtr shift(const NodePtr& column, int64_t periods);

/// Row r less row r - periods, of integers or floats; null where either is, or where there is none.
HR_API NodePtr diff_rows(const NodePtr& column, int64_t periods);

/// The sum over float64 columns of each row, in their order, or how many of its values there are;
/// null and NaN take no part. Throws TypeMismatchError for another dtype and InvalidArgumentError
/// for columns of different rows.
HR_API NodePtr row_total(const std::vector<NodePtr>& columns, bool counts);

/// Null and NaN as the last value before them, or, `backward`, the next one; see fill_missing.h.
HR_API NodePtr fill_missing(const NodePtr& column, bool backward);

/// True in each row of `rows` but those at the integer `positions`, which are in range.
HR_API NodePtr not_at(const NodePtr& rows, const NodePtr& positions);

/// A running sum, product, minimum or maximum.
HR_API NodePtr cumulative(Aggregate aggregate, const NodePtr& column);

/// The quantiles `q` of the values that are neither null nor NaN, as many as `q`: float64, or the
/// dtype where `interpolation` picks values.
HR_API NodePtr quantile(const NodePtr& column, std::vector<double> q, Interpolation interpolation);

/// Reduces an array along one axis; see reduce_axis.
HR_API NodePtr reduce_axis(Aggregate reduction, const NodePtr& array, int64_t axis,
                           ReduceOptions options);

/// A column of categories whose order has a meaning; TypeMismatchError for another dtype.
HR_API NodePtr ordered_categories(const NodePtr& column);

}  // namespace hr
