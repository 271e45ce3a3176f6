// SPDX-License-Identifier: Apache-2.0
// MurmurHash3 of 32 bits (A. Appleby, 2011; public domain), little-endian.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hr {

inline uint32_t murmur3_32(std::string_view text, uint32_t seed) {
  constexpr uint32_t kFirst = 0xCC9E2D51, kSecond = 0x1B873593;
  const auto scrambled = [](uint32_t block) { return std::rotl(block * kFirst, 15) * kSecond; };
  const char* p = text.data();
  uint32_t hash = seed;
  size_t left = text.size();
  for (; left >= 4; p += 4, left -= 4) {
    uint32_t block = 0;
    std::memcpy(&block, p, 4);
    hash = std::rotl(hash ^ scrambled(block), 13) * 5 + 0xE6546B64;
  }
  uint32_t tail = 0;
  for (size_t k = left; k-- > 0;) tail = tail << 8 | static_cast<uint8_t>(p[k]);
  if (left > 0) hash ^= scrambled(tail);
  hash ^= static_cast<uint32_t>(text.size());
  hash = (hash ^ hash >> 16) * 0x85EBCA6B;
  hash = (hash ^ hash >> 13) * 0xC2B2AE35;
  return hash ^ hash >> 16;
}

}  // namespace hr
