// SPDX-License-Identifier: Apache-2.0
// The hash of 64-bit keys: high bits pick a partition, low bits a slot.
#pragma once
#include <cstdint>

namespace hr {

/// One multiplication to 128 bits, folded. The same on every machine and in every run.
inline uint64_t hash_key(uint64_t key) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(key ^ 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace hr
