// SPDX-License-Identifier: Apache-2.0
// RankMap: keys of a small range renumbered by their order, with a bit for each number in the
// range.
#pragma once
#include "headrace/algo/keys/factorize.h"
#include "headrace/memory/buffer/buffer.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace hr {

/// Which of the keys 0 ... `width` there are, and how many lie below each of them: one bit per key
/// and one count for 64 of them (16 bytes), so a rank is one cache line and one popcount. The same
/// for any number of threads; any number of them may ask.
class HR_API RankMap {
 public:
  /// No key.
  RankMap() = default;

  /// The keys of `rows` rows, none above `width`. `accesses`: what `read` reads. About 2.5 ns a row
  /// and core.
  RankMap(int64_t rows, uint64_t width, const ReadKeys& read,
          const std::vector<BufferAccess>& accesses);

  /// How many different keys there are.
  int64_t size() const { return size_; }

  void prefetch(uint64_t key) const { __builtin_prefetch(map_data_ + key / 64); }

  bool has(uint64_t key) const { return map_data_[key / 64].bits >> key % 64 & 1; }

  /// How many keys lie below this one, which is there: its number in their order.
  uint64_t rank(uint64_t key) const {
    const Word& word = map_data_[key / 64];
    const uint64_t below = word.bits & ((uint64_t{1} << key % 64) - 1);
    return word.rank + static_cast<uint64_t>(std::popcount(below));
  }

  /// The keys in their order, uint64; sealed.
  Buffer keys() const;

 private:
  /// 64 keys that follow each other: which of them there are, and how many there are before.
  struct Word {
    uint64_t bits;
    uint64_t rank;
  };

  int64_t size_ = 0;
  int64_t words_ = 0;
  Buffer map_{};
  const Word* map_data_ = nullptr;
};

}  // namespace hr
