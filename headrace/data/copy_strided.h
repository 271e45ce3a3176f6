// SPDX-License-Identifier: Apache-2.0
// One copy between layouts: transposes, slices and their like.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// Writes each element of `from` to its place in `out`, whose strides count elements and which has
/// room for all of them, each place once; on the host. By all workers; where the fastest axes of
/// both differ, in tiles of 32 x 32 elements. The ledger does not see it: callers record.
HR_API void copy_strided(const Tensor& from, std::byte* out, const Shape& out_strides);

}  // namespace hr
