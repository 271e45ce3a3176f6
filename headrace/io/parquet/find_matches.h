// SPDX-License-Identifier: Apache-2.0
// Repetitions in bytes, found greedily by a small hash table: the half that Snappy and LZ4 share.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hr::parquet {

/// Calls `put(literal, distance, length)` for bytes and the repetition behind them, in order: at
/// least 4 bytes, from at most 65,535 before. The last call has the rest (at least the last 5
/// bytes, as LZ4 wants it, or all of a short input) and the length 0. Less than 4 GiB.
template <class Put>
void find_matches(std::string_view bytes, const Put& put) {
  constexpr int kHashBits = 13;  // 32 KiB, which stay in the first cache
  constexpr uint32_t kReach = 65'535, kLastMatch = 12, kLastLiteral = 5;
  const auto size = static_cast<uint32_t>(bytes.size());
  const char* const base = bytes.data();
  const auto word_at = [base](uint32_t at) {
    uint32_t word;
    std::memcpy(&word, base + at, sizeof word);
    return word;
  };
  const auto slot_of = [](uint32_t word) { return (word * 0x9E3779B1u) >> (32 - kHashBits); };
  const auto same_bytes = [base, size](uint32_t from, uint32_t at) {
    uint32_t count = 0;
    for (const uint32_t most = size - kLastLiteral - at; count < most;) {
      uint64_t a, b;
      if (most - count < 8) {
        while (count < most && base[from + count] == base[at + count]) ++count;
        break;
      }
      std::memcpy(&a, base + from + count, 8);
      std::memcpy(&b, base + at + count, 8);
      if (a != b) return count + static_cast<uint32_t>(std::countr_zero(a ^ b) / 8);
      count += 8;
    }
    return count;
  };
  uint32_t pending = 0;
  if (size > kLastMatch) {
    std::array<uint32_t, 1 << kHashBits> table{};
    const uint32_t end = size - kLastMatch;
    uint32_t at = 1;
    // The longer nothing is found, the wider are the steps: noise is passed at the speed of memory.
    for (uint32_t tries = 32; at < end; at += tries++ >> 5) {
      const uint32_t word = word_at(at);
      uint32_t& slot = table[slot_of(word)];
      const uint32_t from = slot;
      slot = at;
      if (at - from > kReach || word_at(from) != word) continue;
      const uint32_t length = 4 + same_bytes(from + 4, at + 4);
      put(bytes.substr(pending, at - pending), at - from, length);
      at += length;
      pending = at;
      tries = 32;
      if (at >= end) break;
      table[slot_of(word_at(at - 2))] = at - 2;
      at -= 1;  // the step of the loop
    }
  }
  put(bytes.substr(pending), uint32_t{0}, uint32_t{0});
}

}  // namespace hr::parquet
