// SPDX-License-Identifier: Apache-2.0
// Varints as they are written: seven bits a byte, the last byte without the top bit.
#pragma once
#include <cstdint>

namespace hr::parquet {

inline constexpr int64_t kMostVarintBytes = 10;

/// Writes at most kMostVarintBytes; gives the end.
inline char* put_varint(uint64_t value, char* out) {
  for (; value >= 128; value >>= 7) *out++ = static_cast<char>(value | 128);
  *out++ = static_cast<char>(value);
  return out;
}

/// Small numbers of either sign as small ones without a sign.
constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

}  // namespace hr::parquet
