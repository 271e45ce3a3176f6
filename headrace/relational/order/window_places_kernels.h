// SPDX-License-Identifier: Apache-2.0
// Kernels of window_places for a CUDA device.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/relational/order/rank.h"

#include <cstdint>

namespace hr::cuda {

/// Of rows in an order (int64 row numbers) in which those of a group (int32 numbers; all rows are
/// one without them) lie side by side, and in it equal `ties` (int32): the rank of each row.
Column ranks_of_rows(const Tensor& order, const Column* groups, const Column& ties,
                     RankMethod method);

/// The place of each row in its group, int64, null where it has none.
Column places_in_groups(const Tensor& order, const Column& groups);

/// The row that stands `periods` before each one in its group, int64, -1 for none.
Tensor shifted_rows(const Tensor& order, const Column& groups, int64_t periods);

/// The numbers as int64, -1 for null.
Tensor positions_of(const Column& numbers);

}  // namespace hr::cuda
