// SPDX-License-Identifier: Apache-2.0
// Ranks of the values of a dictionary.
#include "headrace/algo/sort/category_ranks.h"

#include <numeric>
#include <vector>

namespace hr {

Buffer category_ranks(const Dictionary& dictionary) {
  const int32_t size = dictionary.size();
  Buffer ranks = Buffer::allocate(int64_t{size} * static_cast<int64_t>(sizeof(int32_t)));
  if (size == 0) return ranks;
  int32_t* const out = ranks.mutable_as<int32_t>();
  if (dictionary.is_ordered()) {
    std::iota(out, out + size, 0);
    return ranks;
  }
  const std::vector<int32_t> codes = sorted_codes(dictionary.values());
  for (int32_t rank = 0; rank < size; ++rank) out[codes[static_cast<size_t>(rank)]] = rank;
  return ranks;
}

}  // namespace hr
