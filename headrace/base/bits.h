// SPDX-License-Identifier: Apache-2.0
// Bitmaps in Arrow's order: bit i of a bitmap is bit (i mod 8) of byte i / 8.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

namespace hr {

constexpr int64_t bitmap_bytes(int64_t bits) {
  return (bits + 7) / 8;
}

inline bool get_bit(const uint8_t* bitmap, int64_t i) {
  return (bitmap[i >> 3] >> (i & 7)) & 1;
}

inline void set_bit(uint8_t* bitmap, int64_t i, bool value) {
  const uint8_t mask = static_cast<uint8_t>(1u << (i & 7));
  bitmap[i >> 3] = static_cast<uint8_t>(value ? bitmap[i >> 3] | mask : bitmap[i >> 3] & ~mask);
}

/// The 64 bits that begin at bit `start`, of which the first `count` (1 to 64) are kept, the others
/// zero. Reads no byte past the one that holds bit `start + count - 1`.
inline uint64_t load_bits(const uint8_t* bitmap, int64_t start, int64_t count) {
  const uint8_t* first = bitmap + (start >> 3);
  const int shift = static_cast<int>(start & 7);
  uint64_t word = 0;
  if (count == 64) {  // mostly: a load instead of a call
    std::memcpy(&word, first, sizeof word);
    return shift == 0 ? word : word >> shift | static_cast<uint64_t>(first[8]) << (64 - shift);
  }
  const int64_t bytes = (shift + count + 7) / 8;
  std::memcpy(&word, first, static_cast<size_t>(bytes < 8 ? bytes : 8));
  word >>= shift;
  if (bytes > 8) word |= static_cast<uint64_t>(first[8]) << (64 - shift);
  return word & ((uint64_t{1} << count) - 1);
}

/// The lowest `count` ones of `bits`.
inline uint64_t lowest_ones(uint64_t bits, int64_t count) {
  uint64_t rest = bits;
  for (; count > 0; --count) rest &= rest - 1;
  return bits ^ rest;
}

/// The bits where `mask` has ones, moved together to the low end.
inline uint64_t extract_bits(uint64_t bits, uint64_t mask) {
  uint64_t result = 0;
  for (int i = 0; mask; mask &= mask - 1, ++i)
    result |= ((bits >> std::countr_zero(mask)) & 1) << i;
  return result;
}

/// Set bits among the `count` bits that begin at bit `start`.
inline int64_t count_bits(const uint8_t* bitmap, int64_t start, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; i += 64)
    total += std::popcount(load_bits(bitmap, start + i, count - i < 64 ? count - i : 64));
  return total;
}

}  // namespace hr
