// SPDX-License-Identifier: Apache-2.0
// Keys renumbered by a bitmap and popcounts.
#include "headrace/algo/keys/rank_map.h"

#include "headrace/algo/select/compact_offsets.h"
#include "headrace/exec/zeroed.h"

#include <algorithm>
#include <atomic>

namespace hr {

// A bit for each key that there is, then the ranks.
RankMap::RankMap(int64_t rows, uint64_t width, const ReadKeys& read,
                 const std::vector<BufferAccess>& accesses)
    : words_(static_cast<int64_t>(width / 64 + 1)),
      map_(allocate_zeroed_by_workers(words_ * static_cast<int64_t>(sizeof(Word)))) {
  auto* const map = map_.mutable_as<Word>();
  parallel_morsels(rows, accesses, [&](Morsel morsel) {
    uint64_t keys[kBlockRows];
    for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, morsel.end - row);
      read(row, count, keys);
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t bit = uint64_t{1} << keys[i] % 64;
        std::atomic_ref bits(map[keys[i] / 64].bits);
        if (!(bits.load(std::memory_order_relaxed) & bit))
          bits.fetch_or(bit, std::memory_order_relaxed);
      }
    }
  });
  const auto each_word = [&](Morsel morsel, uint64_t rank) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i) {
      map[i].rank = rank;
      rank += static_cast<uint64_t>(std::popcount(map[i].bits));
    }
    return rank;
  };
  const std::vector<int64_t> ranks = compact_offsets(
      words_, {}, [&](Morsel morsel) { return static_cast<int64_t>(each_word(morsel, 0)); });
  parallel_morsels(words_, [&](Morsel morsel) {
    each_word(morsel, static_cast<uint64_t>(ranks[static_cast<size_t>(morsel.index)]));
  });
  size_ = ranks.back();
  map_.seal();
  map_data_ = map_.as<Word>();
}

Buffer RankMap::keys() const {
  Buffer keys = Buffer::allocate(8 * size_);
  if (size_ == 0) return keys;
  auto* const out = keys.mutable_as<uint64_t>();
  parallel_morsels(words_, [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i) {
      uint64_t* to = out + map_data_[i].rank;
      for (uint64_t bits = map_data_[i].bits; bits != 0; bits &= bits - 1)
        *to++ = static_cast<uint64_t>(i) * 64 + static_cast<uint64_t>(std::countr_zero(bits));
    }
  });
  keys.seal();
  return keys;
}

}  // namespace hr
