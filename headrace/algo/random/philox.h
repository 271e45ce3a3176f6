// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10: random words by their number, in any order and on any thread.
#pragma once
#include "headrace/algo/random/philox_math.h"

namespace hr {

/// Which sequence of words: all of a seed's streams are independent of each other.
struct RandomKey {
  uint64_t seed = 0;
  uint32_t stream = 0;
};

/// Block `index` of a sequence. What rejects a draw takes the same index of another `attempt`.
HR_INLINE PhiloxBlock philox_block(RandomKey key, uint64_t index, uint32_t attempt = 0) {
  return philox4x32(
      {{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), key.stream, attempt}},
      static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32));
}

/// Word `half` (0 or 1) of 64 bits of a block.
HR_INLINE uint64_t philox_word(const PhiloxBlock& block, int half) {
  return block.word[2 * half] | uint64_t{block.word[2 * half + 1]} << 32;
}

namespace cpu {

/// The 64-bit words of blocks [first, first + count): out[2 * count].
HR_API void philox_words(RandomKey key, uint64_t first, int64_t count, uint64_t* out);

}  // namespace cpu
}  // namespace hr
