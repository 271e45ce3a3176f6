// SPDX-License-Identifier: Apache-2.0
// The size of the pieces of text that threads parse.
#pragma once
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hr {

/// A power of two, unless a limit or `most` cuts it: `share` of them for each thread fill the
/// memory limit, as each holds the text of one and what it makes of it.
inline int64_t chunk_bytes(int64_t share, int64_t least, int64_t most) {
  const auto bytes = static_cast<uint64_t>(memory_limit() / (share * threads()));
  return std::clamp(static_cast<int64_t>(std::bit_floor(bytes)), least, most);
}

}  // namespace hr
