// SPDX-License-Identifier: Apache-2.0
// Few keys in order, by radix.
#include "headrace/algo/keys/radix_order.h"

#include "headrace/memory/buffer/buffer.h"

#include <bit>
#include <utility>

namespace hr {

void radix_order(const uint64_t* keys, uint32_t* numbers, int64_t count) {
  struct Entry {
    uint64_t key;
    uint32_t number;
  };
  const int64_t bytes = count * static_cast<int64_t>(sizeof(Entry));
  Buffer first = Buffer::allocate(bytes), second = Buffer::allocate(bytes);
  if (count == 0) return;
  auto *entries = first.mutable_as<Entry>(), *space = second.mutable_as<Entry>();
  uint64_t differ = 0;
  bool ascends = true;
  for (int64_t i = 0; i < count; ++i) {
    entries[i] = {keys[i], numbers[i]};
    differ |= keys[i] ^ keys[0];
    ascends &= i == 0 || keys[i - 1] <= keys[i];
  }
  if (ascends) return;
  constexpr int kBits = 11;
  constexpr uint64_t kMask = (1 << kBits) - 1;
  const auto end = static_cast<int>(std::bit_width(differ));
  for (int shift = std::countr_zero(differ); shift < end; shift += kBits) {
    if (((differ >> shift) & kMask) == 0) continue;
    uint32_t starts[kMask + 2] = {};
    for (int64_t i = 0; i < count; ++i) ++starts[((entries[i].key >> shift) & kMask) + 1];
    for (uint64_t i = 1; i <= kMask; ++i) starts[i] += starts[i - 1];
    for (int64_t i = 0; i < count; ++i)
      space[starts[(entries[i].key >> shift) & kMask]++] = entries[i];
    std::swap(entries, space);
  }
  for (int64_t i = 0; i < count; ++i) numbers[i] = entries[i].number;
}

}  // namespace hr
