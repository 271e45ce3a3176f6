// SPDX-License-Identifier: Apache-2.0
// The neighbours of one vertex that are drawn.
#pragma once
#include "headrace/algo/random/draw_below.h"
#include "headrace/algo/random/philox.h"

#include <cstdint>

namespace hr {

/// How many of a vertex's entries are taken; a negative fanout takes all.
HR_BOTH inline int64_t num_drawn(int64_t degree, int64_t fanout, bool replace) {
  if (degree == 0 || fanout < 0) return degree;
  return replace || fanout < degree ? fanout : degree;
}

/// out[i]: places below `degree`, `count` of them, of a vertex in a hop; without replacement by
/// Floyd's algorithm. `repeats(i, place)` says whether a place before the i-th is that one.
template <class Repeats>
HR_BOTH void draw_entries(RandomKey key, int64_t vertex, int64_t degree, int64_t count,
                          bool replace, int64_t* out, Repeats&& repeats) {
  PhiloxBlock block{};
  for (int64_t i = 0; i < count; ++i) {
    if (i % 2 == 0)
      block = philox_block(key, static_cast<uint64_t>(vertex), static_cast<uint32_t>(i / 2));
    const uint64_t word = philox_word(block, static_cast<int>(i % 2));
    const int64_t last = replace ? degree - 1 : degree - count + i;
    const int64_t drawn = draw_below(word, last + 1);
    out[i] = !replace && repeats(i, drawn) ? last : drawn;
  }
}

}  // namespace hr
