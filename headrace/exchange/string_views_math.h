// SPDX-License-Identifier: Apache-2.0
// Which views need no look at text elsewhere.
#pragma once
#include "headrace/data/column.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace hr {

// The bits of a view of 0 to 12 bytes that are zero in front of zeros only if its text is ASCII.
struct ShortMask {
  uint64_t low, high;
};
inline constexpr auto kNotShortAscii = [] {
  std::array<ShortMask, sizeof(StringView::inlined) + 1> masks{};
  for (size_t size = 0; size < masks.size(); ++size)
    for (size_t i = 0; i < sizeof(StringView::inlined); ++i) {
      uint64_t& word = i < 4 ? masks[size].low : masks[size].high;
      word |= uint64_t{i < size ? 0x80u : 0xFFu} << 8 * (i < 4 ? i + 4 : i - 4);
    }
  return masks;
}();

inline bool is_short_ascii(const StringView& view) {
  uint64_t words[2];
  std::memcpy(words, &view, sizeof words);
  const uint64_t size = static_cast<uint32_t>(words[0]);
  const ShortMask& mask = kNotShortAscii[std::min<uint64_t>(size, kNotShortAscii.size() - 1)];
  return ((words[0] & mask.low) | (words[1] & mask.high) | (size > sizeof(StringView::inlined))) ==
         0;
}

}  // namespace hr
