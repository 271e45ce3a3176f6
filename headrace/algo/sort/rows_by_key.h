// SPDX-License-Identifier: Apache-2.0
// Rows in the order of keys that are numbers from 0 on: the compressed rows of a matrix or graph.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hr {

/// Values that go with their rows, `width` 4 or 8 bytes each, from byte `begin` of `from`. Without
/// `from` the value is the row's number. Where values of 4 bytes are known to be below `bound`,
/// keys and values may move as one word.
struct KeyedColumn {
  const Buffer* from = nullptr;
  int64_t width = 4;
  int64_t begin = 0;
  int64_t bound = 0;  ///< 0: not known
};

/// Key k has places offsets[k] to offsets[k + 1] of `columns`, in the order of the rows.
struct RowsByKey {
  Buffer offsets{};  ///< int64 [keys + 1]; sealed
  std::vector<Buffer> columns{};
};

/// `keys`: an unsigned integer of each row, below `num_keys`; at most two columns. Two passes over
/// the rows: into buckets of keys (radix_partition.h), then each bucket in cache; for few keys,
/// one. Where keys go along with rows, as in banded matrices, chunks of rows go to their places at
/// once. About 9 ns a row and core with one column of 4 bytes; the widths of keys and columns in
/// temporary memory a row. The same for any number of threads. `were_read` runs when keys and
/// columns are no longer needed, before there is room for the result: it may free them.
HR_API RowsByKey rows_by_key(const KeyedColumn& keys, int64_t rows, int64_t num_keys,
                             std::span<const KeyedColumn> columns,
                             const std::function<void()>& were_read = {});

}  // namespace hr
