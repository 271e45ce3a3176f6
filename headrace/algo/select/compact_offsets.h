// SPDX-License-Identifier: Apache-2.0
// Where morsels that make different numbers of rows write them: count, then an exclusive scan.
#pragma once
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <cstdint>
#include <vector>

namespace hr {

/// `count(morsel)` is how many rows a morsel makes; the result says where those of each morsel
/// begin, and behind the last one how many there are in all.
template <class Count>
std::vector<int64_t> compact_offsets(int64_t rows, const std::vector<BufferAccess>& accesses,
                                     Count&& count) {
  std::vector<int64_t> offsets(static_cast<size_t>(num_morsels(rows)) + 1, 0);
  parallel_morsels(rows, accesses, [&](Morsel morsel) {
    offsets[static_cast<size_t>(morsel.index) + 1] = count(morsel);
  });
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  return offsets;
}

}  // namespace hr
