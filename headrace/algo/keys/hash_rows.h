// SPDX-License-Identifier: Apache-2.0
// A hash for each row, the same in every process: which worker of a cluster gets the row.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <span>

namespace hr {

/// uint64 for each row of columns of equal length, of which there is at least one. Equal values
/// have equal hashes whatever their dtype: integers of any width, floats that are whole, bools as 0
/// and 1, times and durations in any unit, categories as their values. Null and NaN are alike, and
/// so are 0.0 and -0.0. The values are part of a protocol: they are the same on every machine and
/// stay as they are. Throws UnsupportedError for complex and nested columns.
HR_API Column hash_rows(std::span<const Column> columns);

}  // namespace hr
