// SPDX-License-Identifier: Apache-2.0
// What a few rows tell of the keys of all.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <vector>

namespace hr {

/// Of rows of some columns that are taken as keys.
struct NdvEstimate {
  double distinct = 0;
  /// Normalized keys that there can be (see NormalizedKeys), from the ranges of integers; where
  /// strings get codes, from their number.
  double domain = 0;
  bool has_texts = false;  ///< that get codes, since they are long or far apart
  double text_bytes = 0;   ///< of a string, if they lie outside of its view
};

/// Reads 4096 rows picked at random, the same in each run (all, where there are few): about 60 us
/// for a column. The number of distinct keys is the estimate "Duj1" of Haas, Naughton, Seshadri and
/// Stokes (VLDB 1995), which PostgreSQL uses too: of n rows of N, d distinct ones and f of them
/// once, n d / (n - f + f n / N). As in their "Duj2a" keys that are often in the sample are counted
/// apart. It is right for keys that are all different or about equally frequent, and too low where
/// few are frequent and many rare. Columns are of equal length and in host memory; null is a key.
HR_API NdvEstimate estimate_ndv(const std::vector<Column>& columns);

/// Of `distinct` keys of `rows` rows those that `some` of the rows, picked at random, have.
HR_API double distinct_in_sample(double distinct, double rows, double some);

}  // namespace hr
