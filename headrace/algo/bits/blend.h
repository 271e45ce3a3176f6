// SPDX-License-Identifier: Apache-2.0
// Values where bits are set, and others elsewhere: without a branch on each bit.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hr {

/// `value` if `keep`, else `other`.
template <class T>
inline T choose(bool keep, T value, T other) {
  if constexpr (std::is_same_v<T, std::array<uint64_t, 2>>) {
    return {choose(keep, value[0], other[0]), choose(keep, value[1], other[1])};
  } else {
    using Bits = std::conditional_t<
        sizeof(T) == 8, uint64_t,
        std::conditional_t<sizeof(T) == 4, uint32_t,
                           std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
    const auto mask = static_cast<Bits>(-static_cast<Bits>(keep));
    const auto a = std::bit_cast<Bits>(value), b = std::bit_cast<Bits>(other);
    return std::bit_cast<T>(static_cast<Bits>((a & mask) | (b & ~mask)));
  }
}

/// Eight bits as eight bytes 0 or 1, the lowest bit first.
inline uint64_t bytes_of_bits(uint64_t bits) {
  const uint64_t apart = ((bits & 0xFF) * 0x0101010101010101) & 0x8040201008040201;
  return ((apart + 0x7F7F7F7F7F7F7F7F) >> 7) & 0x0101010101010101;
}

/// The way back.
inline uint64_t packed_bits(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word * 0x0102040810204080 >> 56;
}

/// Writes `values[i]` where bit i of `valid` is set, else `other(i)`.
template <class T, class Other>
inline void blend(const T* values, const uint64_t* valid, int64_t count, Other&& other, T* out) {
  for (int64_t begin = 0; begin < count; begin += 64) {
    const int64_t end = std::min(begin + 64, count);
    uint64_t word = valid[begin / 64];
    if (word == ~uint64_t{0}) {
      std::copy(values + begin, values + end, out + begin);
      continue;
    }
    int64_t i = begin;
    if constexpr (sizeof(T) == 1)
      for (; i + 8 <= end; i += 8, word >>= 8) {
        uint64_t a = 0, b = 0;
        T others[8];
        for (int k = 0; k < 8; ++k) others[k] = other(i + k);
        std::memcpy(&a, values + i, 8);
        std::memcpy(&b, others, 8);
        const uint64_t mask = bytes_of_bits(word) * 0xFF, both = (a & mask) | (b & ~mask);
        std::memcpy(out + i, &both, 8);
      }
    for (; i < end; ++i, word >>= 1) out[i] = choose<T>(word & 1, values[i], other(i));
  }
}

}  // namespace hr
