// SPDX-License-Identifier: Apache-2.0
// Numbers for vertices that integers name, without keys and without a copy of all parts.
#pragma once
#include "headrace/graph/structure/number_vertices.h"

#include <algorithm>
#include <optional>

namespace hr {

/// Whether a map of the ranks of that many keys is worth its memory: 16 bytes for 64 of them.
inline bool are_near(uint64_t domain, int64_t rows) {
  constexpr uint64_t kMostKeysARow = 64;
  constexpr int64_t kFewIds = 1 << 16;
  return domain != 0 && domain <= static_cast<uint64_t>(std::max(rows, kFewIds)) * kMostKeysARow;
}

/// As number_vertices, of one key of integers without nulls that are near each other; none for
/// other keys. Parts that have each number of the range are not copied: their values are the
/// numbers, and ids may be a part.
std::optional<NumberedVertices> number_integers(const std::vector<std::vector<Column>>& parts);

}  // namespace hr
