// SPDX-License-Identifier: Apache-2.0
// Columns of a join's result on a CUDA device: values of the rows that it pairs.
#pragma once
#include "headrace/relational/join/join.h"

#include <vector>

namespace hr {

/// Rows of columns of one side, which are inside: `rows` is int32, -1, of which there may be some
/// if `may_miss`, gives null. Strings share their text. Row numbers are read once for 8 columns;
/// waits once where something may be null. Columns and rows lie on one device.
std::vector<Column> gather_joined(const std::vector<Column>& columns, const Tensor& rows,
                                  bool may_miss);

/// The left value where there is a left row, else the right one; of one dtype, strings or values of
/// a fixed width.
Column coalesce_joined(const Column& left, const Column& right, const JoinedRows& joined);

/// A code per row, int32: 0 for rows of the user's left side alone, 1 of the right side, 2 of both.
/// `swapped`: the user's left side is the right one here.
Buffer indicate_joined(const JoinedRows& joined, bool swapped, Place place);

}  // namespace hr
