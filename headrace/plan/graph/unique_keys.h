// SPDX-License-Identifier: Apache-2.0
// Columns of which no two rows are equal, known before anything runs.
#pragma once
#include "headrace/plan/graph/node.h"

#include <span>
#include <vector>

namespace hr {

/// Whether no two rows of these columns of one frame are equal, null to null and NaN to NaN: keys
/// of a group-by, or of rows whose duplicates are gone, and what filters, sorts and joins left of
/// them.
HR_API bool are_unique(std::span<const NodePtr> columns);

/// What is known of rows at positions; those of first rows are of no two that are equal.
HR_API std::vector<KeyPlace> keys_at(const NodePtr& rows, const NodePtr& positions);

/// What is known of some of the rows, in another order, which `step` names.
std::vector<KeyPlace> keys_after(std::vector<KeyPlace> keys, uint64_t step);

}  // namespace hr
