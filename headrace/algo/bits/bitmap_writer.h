// SPDX-License-Identifier: Apache-2.0
// Bits written to one bitmap by many workers.
#pragma once
#include <atomic>
#include <cstdint>

namespace hr {

/// Sets bits of a zeroed bitmap whose buffer is padded to whole words. Neighbours may write into
/// one word at the same time: or has no order.
class BitmapWriter {
 public:
  explicit BitmapWriter(void* bitmap) : words_(static_cast<uint64_t*>(bitmap)) {}

  /// Or of the low `count` (1 to 64) bits of `bits` to the bits from `position` on; higher ones are
  /// 0.
  void put(int64_t position, uint64_t bits, int64_t count) const {
    if (bits == 0) return;
    const int shift = static_cast<int>(position & 63);
    or_word(position >> 6, bits << shift);
    if (shift + count > 64) or_word((position >> 6) + 1, bits >> (64 - shift));
  }

 private:
  void or_word(int64_t index, uint64_t bits) const {
    if (bits) std::atomic_ref<uint64_t>(words_[index]).fetch_or(bits, std::memory_order_relaxed);
  }

  uint64_t* words_;
};

}  // namespace hr
