// SPDX-License-Identifier: Apache-2.0
// Numbers for the distinct keys of many rows, in the order of the keys.
#pragma once
#include "headrace/algo/keys/factorize.h"
#include "headrace/data/column.h"

#include <optional>

namespace hr {

struct SortedFactorizedKeys {
  Buffer numbers{};  ///< uint32 a row; sealed
  Buffer keys{};     ///< 8 bytes each, ascending, the key of each number; sealed
  int64_t count = 0;
};

/// Numbers the distinct keys in their order; `last`, if it comes, gets the last number. Few keys
/// are looked up in one table; of many the rows are split by ranges of keys, each partition has a
/// table of its own, and the numbers go back to where the rows were: about 100 ns a row and core,
/// 12 bytes of temporary memory a row, all of which may leave for the disk. Fewer than 2^32 rows.
HR_API SortedFactorizedKeys factorize_sorted(int64_t rows, const ReadKeys& read,
                                             const std::vector<BufferAccess>& accesses,
                                             std::optional<uint64_t> last = {});

struct FactorizedStrings {
  Buffer numbers{};  ///< uint32 a row, anything where the row is null; sealed
  Column texts{};    ///< of each number; over the text of the rows
};

/// Whether the strings tell of more distinct ones than kFewKeys, or than a dictionary, which stays
/// in memory, may have under the limit.
HR_API bool has_many_strings(const Column& strings);

/// The same for strings, by bytes where `ordered`: 28 bytes of temporary memory a row.
HR_API FactorizedStrings factorize_strings(const Column& strings, bool ordered);

}  // namespace hr
