// SPDX-License-Identifier: Apache-2.0
// How much of a mask has to be read.
#include "headrace/algo/select/mask_prefix.h"

#include <algorithm>
#include <bit>

namespace hr {

MaskPrefix mask_prefix(const Mask& mask, int64_t most) {
  MaskPrefix found{0, 0};
  while (found.rows < mask.num_rows() && found.picked < most) {
    const int64_t count = std::min<int64_t>(64, mask.num_rows() - found.rows);
    uint64_t word = mask.word(found.rows, count);
    const int64_t picked = std::popcount(word);
    if (found.picked + picked >= most) {
      for (; found.picked + 1 < most; ++found.picked) word &= word - 1;
      return {found.rows + std::countr_zero(word) + 1, most};
    }
    found.rows += count;
    found.picked += picked;
  }
  return found;
}

}  // namespace hr
