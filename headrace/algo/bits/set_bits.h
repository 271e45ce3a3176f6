// SPDX-License-Identifier: Apache-2.0
// The places of the set bits of a byte, and their number.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace hr {

using EightPlaces = std::array<uint8_t, 8>;

/// The set bits of each byte, ascending.
inline constexpr std::array<EightPlaces, 256> kSetBits = [] {
  std::array<EightPlaces, 256> table{};
  for (size_t byte = 0; byte < 256; ++byte)
    for (size_t bit = 0, next = 0; bit < 8; ++bit)
      if ((byte >> bit & 1) != 0) table[byte][next++] = static_cast<uint8_t>(bit);
  return table;
}();

/// The number of set bits of each byte: the baseline of x86-64 has no instruction for it.
inline constexpr std::array<uint8_t, 256> kSetBitCounts = [] {
  std::array<uint8_t, 256> table{};
  for (size_t byte = 1; byte < 256; ++byte)
    table[byte] = static_cast<uint8_t>(table[byte / 2] + byte % 2);
  return table;
}();

}  // namespace hr
