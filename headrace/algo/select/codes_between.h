// SPDX-License-Identifier: Apache-2.0
// Codes of categories in a range, as bits.
#pragma once
#include "headrace/algo/select/filter.h"
#include "headrace/data/column.h"

namespace hr {

/// Which codes of a category column lie in [begin, end), or with `inside` false do not; null where
/// the row is, false for rows where the mask is not true. At the memory's speed.
HR_API Column codes_between(const Column& column, int32_t begin, int32_t end, bool inside = true,
                            const Mask* where = nullptr);

}  // namespace hr
