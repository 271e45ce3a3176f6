// SPDX-License-Identifier: Apache-2.0
// Places of values in their order.
#pragma once
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/plan/graph/node.h"

#include <string_view>

namespace hr {

/// What equal values get: the mean of their places, the least, the greatest, each its own in row
/// order, or the number of distinct values up to it.
enum class RankMethod : uint8_t { kAverage, kMin, kMax, kFirst, kDense };

/// "average", "min", "max", "first", "dense"; throws InvalidArgumentError for another word.
HR_API RankMethod rank_method_from_name(std::string_view name);
HR_API std::string_view rank_method_name(RankMethod method);

/// 0, 1, 2, ...: carried through a sort, they bring the rows back.
Column row_numbers(int64_t rows);

/// Ranks of rows in order: `values` are their normalized keys, of `packed`; `keys`, 8 bytes a row,
/// tell groups apart, if there are some. Null for missing values.
Column rank_sorted(const Buffer& keys, const Buffer& values, int64_t rows,
                   const NormalizedKeys& packed, RankMethod method);

/// The place of each value, from 1 on: float64; null and NaN have none, which is null. About 40 ns
/// a row in addition to the sort. Errors as of argsort.
HR_API Column rank(const Column& column, RankMethod method, bool descending);
HR_API NodePtr rank(const NodePtr& column, RankMethod method, bool descending);

}  // namespace hr
