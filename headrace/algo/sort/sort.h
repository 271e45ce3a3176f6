// SPDX-License-Identifier: Apache-2.0
// Rows in order of keys: stable, in memory and beyond the memory limit.
#pragma once
#include "headrace/algo/sort/sort_key.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr {

/// The rows of `columns` in the order of `keys`, first key first; equal rows stay in their order,
/// so the result is one and the same for any number of threads and any limit. Columns share their
/// buffers with the result where rows are in order already; strings always share their text.
///
/// Rows go to about n / 2^16 buckets between sampled splitters, straight into the result; each
/// bucket is then sorted in cache. About 17 ns a row and core for an int64 key with a float64
/// column, less where keys repeat. Under a limit buckets may be fewer and larger, leave for the
/// disk between the two steps, and are distributed once more.
/// On a CUDA device one order by radix sort (CUB), a pass for 8 bits of the keys' ranges, then a
/// gather of each column; of one number the leading bits mostly do. UnsupportedError there for
/// string keys, and for 2^32 rows and more. Errors as of SortKeys; also InvalidArgumentError when
/// keys and columns differ in rows.
HR_API std::vector<Column> sort_rows(const std::vector<Column>& keys,
                                     const std::vector<SortOrder>& orders,
                                     const std::vector<Column>& columns);

/// The rows' numbers in that order, int64.
HR_API Tensor argsort(const std::vector<Column>& keys, const std::vector<SortOrder>& orders);

/// Columns of unsigned words on the host that order rows as the keys do, each ascending; none where
/// words do not say all of the keys: long strings. Errors as of SortKeys.
HR_API std::vector<Column> sort_words(const std::vector<Column>& keys,
                                      const std::vector<SortOrder>& orders);

/// The first `count` of them, in two passes over the keys: about 1 ns a row each.
HR_API Tensor first_rows(const std::vector<Column>& keys, const std::vector<SortOrder>& orders,
                         int64_t count);

}  // namespace hr
