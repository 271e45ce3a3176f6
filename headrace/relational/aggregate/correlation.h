// SPDX-License-Identifier: Apache-2.0
// Covariances and correlations of pairs of columns.
#pragma once
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// An array [columns, columns] of float64: for each pair of columns the covariance, or Pearson's
/// correlation, of the rows where both have a value that is not NaN. Columns are numbers or bools
/// of the same rows. A covariance divides by the rows less `ddof` and is NaN where that leaves
/// none; a correlation lies in [-1, 1] and is NaN where one of the two is constant.
///
/// Sums are those of deviations from the means, less what the rounding of the means adds to them,
/// so they are 0 for a constant (Chan, Golub and LeVeque, "Algorithms for Computing the Sample
/// Variance", 1983), in one fixed order. Cost: two passes, columns^2 / 2 operations a row; pairs
/// with missing values are read once more.
HR_API NodePtr covariance(const std::vector<NodePtr>& columns, int64_t ddof = 1);
HR_API NodePtr correlation(const std::vector<NodePtr>& columns);

}  // namespace hr
