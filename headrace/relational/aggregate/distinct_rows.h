// SPDX-License-Identifier: Apache-2.0
// The first row of each key, and how many keys there are: a group-by that folds nothing.
#pragma once
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr {

/// The rows with a key that none before them has, ascending, int64; without those with missing keys
/// where the keys drop these. Few keys are looked up in one table, by all workers once they are
/// known; of many the rows are split into partitions, each with a table of its own, and the rows
/// that stay are marked in the order of all: about 13 bytes of memory a row, which cannot leave for
/// the disk.
HR_API Tensor distinct_rows(const NormalizedKeys& keys);

/// The same of key columns on a CUDA device, of which null and NaN are keys, each one of its own.
HR_API Tensor distinct_rows(const std::vector<Column>& keys);

/// How many rows that gives, without marks.
HR_API int64_t count_distinct(const NormalizedKeys& keys);

/// Keys as they are in results: -0.0 is 0.0, and every NaN the same.
Column canonical_keys(const Column& keys);

}  // namespace hr
