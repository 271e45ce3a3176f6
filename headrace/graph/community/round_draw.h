// SPDX-License-Identifier: Apache-2.0
// Which vertices of a round decide together, on the host and on devices.
#pragma once
#include "headrace/algo/random/philox.h"

namespace hr {

inline constexpr int kSubRounds = 16;

/// Slices of a first round of vertices that are all alone, each as large as those before it
/// together: the first vertices to choose settle which groups there will be, and sixteenths of all
/// that do not see each other leave too many.
inline constexpr int kSlices = 4;

HR_INLINE uint64_t round_draw(RandomKey key, uint32_t v) {
  return philox_word(philox_block(key, v), 0);
}

HR_INLINE int sub_round_of(uint64_t draw) {
  return static_cast<int>(draw % kSubRounds);
}

/// 0 goes first.
HR_INLINE int slice_of(uint64_t draw, int slices) {
  int slice = slices - 1;
  for (; slice > 0 && draw >> 63 == 0; --slice) draw <<= 1;
  return slice;
}

}  // namespace hr
