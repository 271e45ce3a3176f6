// SPDX-License-Identifier: Apache-2.0
// The first row of each key, and how many keys there are: a group-by that folds nothing.
#pragma once
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// The rows with a key that none before them has, ascending, int64; without those with missing keys
/// where the keys drop these. Few keys are looked up in one table, by all workers once they are
/// known; of many the rows are split into partitions, each with a table of its own, and the rows
/// that stay are marked in the order of all: about 13 bytes of memory a row, which cannot leave for
/// the disk.
HR_API Tensor distinct_rows(const NormalizedKeys& keys);

/// How many rows that gives, without marks.
HR_API int64_t count_distinct(const NormalizedKeys& keys);

}  // namespace hr
