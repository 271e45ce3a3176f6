// SPDX-License-Identifier: Apache-2.0
// Places of rows within their groups on a CUDA device.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/relational/order/rank.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace hr {

/// Numbers of the rows' keys on a CUDA device, in the order of these, null where a key is missing
/// and these are dropped; nothing for keys that `NormalizedKeys::of_device` does not take.
std::optional<RowCodes> numbers_of_keys(const std::vector<Column>& keys, bool drop_missing);

/// As `rank`, of the values of each group, or of all without `groups` (int32 numbers, null for
/// none); nothing for values that have no numbers.
std::optional<Column> rank_there(const Column* groups, const Column& values, RankMethod method,
                                 bool descending);

/// The place of each row in its group, from 0 on, int64; null without a group.
Column row_numbers_there(const Column& groups);

/// The value `periods` rows before in the same group, null for none.
Column shift_there(const Column& groups, const Column& values, int64_t periods);

/// The rows of a column that these numbers tell, null for null.
Column rows_of_numbers(const Column& column, const Column& numbers);

}  // namespace hr
