// SPDX-License-Identifier: Apache-2.0
// Normalized keys on a CUDA device: ranges of integers, and what a kernel reads of each column.
#pragma once
#include "headrace/algo/sort/row_codes.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace hr {

class NormalizedKeys;

/// A key column as a part of a normalized key: an integer less `least`, a bit or a code, at
/// `shift`.
struct KeyField {
  Column column{};
  Buffer turn{};  ///< uint32 of each code, on the host; else codes are as they are
  uint64_t least = 0;
  uint64_t null_code = 0;  ///< of a null
  uint64_t last = 0;       ///< the greatest code, that of a null included
  int shift = 0;
  bool can_miss = false;
  bool is_text = false;  ///< made of the bytes of short strings: most codes are of no row
};

}  // namespace hr

namespace hr::cuda {

/// Least and greatest of each column of integers, not empty, as bits; what null slots hold counts.
/// Waits once.
std::vector<std::pair<uint64_t, uint64_t>> integer_ranges(const std::vector<Column>& columns);

/// Numbers of keys on a device with rows, by first appearance, or in order; of dropped rows null.
RowCodes encode_keys(const NormalizedKeys& keys, bool ordered);

}  // namespace hr::cuda
