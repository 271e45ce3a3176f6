// SPDX-License-Identifier: Apache-2.0
// Columns in the order of keys on a CUDA device, and the rows that come first. Keys are checked.
#pragma once
#include "headrace/algo/sort/sort_key.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace hr::cuda {

/// The rows of `columns` in the order of the keys. Waits for the keys' ranges, and of numbers of
/// more than 32 bits to learn whether their leading ones were enough.
std::vector<Column> sort_rows(const std::vector<Column>& keys, const std::vector<SortOrder>& orders,
                              const std::vector<Column>& columns);

/// Numbers of the rows, ascending, among which the first `count` are: not many more than these.
/// None where too many rows tie. Waits for a histogram of 12 bits at a time.
std::optional<Tensor> first_candidates(const std::vector<Column>& keys,
                                       const std::vector<SortOrder>& orders, int64_t count);

}  // namespace hr::cuda
