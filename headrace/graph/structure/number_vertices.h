// SPDX-License-Identifier: Apache-2.0
// Numbers for the vertices that edges name, in the order of what names them.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace hr {

struct NumberedVertices {
  int64_t count = 0;
  std::vector<Column> ids{};      ///< of the vertices, ascending: one column a key
  std::vector<Buffer> numbers{};  ///< of each part: uint32 a row
};

/// Numbers the different rows of several parts (sources, targets, further vertices), each with the
/// same key columns of the same dtypes, in their order. Keys of a small range cost about 7 ns a
/// row and core (rank_map.h), others about 100. Throws InvalidArgumentError for null and NaN, which
/// name no vertex, and UnsupportedError for 2^32 rows and more.
HR_API NumberedVertices number_vertices(std::string_view op,
                                        const std::vector<std::vector<Column>>& parts);

/// The numbers of the vertices that the rows of `asked` name, int64, -1 where there is none; `ids`
/// ascending, of the same dtypes. A binary search a row, but for integers without gaps.
HR_API Column find_vertices(const std::vector<Column>& ids, const std::vector<Column>& asked);

/// How many of the ids are below each row of `asked`, int64.
HR_API Column count_below(const std::vector<Column>& ids, const std::vector<Column>& asked);

/// The ids 0, 1, ... of that many vertices, int64.
HR_API Column counted_ids(int64_t count);

}  // namespace hr
