// SPDX-License-Identifier: Apache-2.0
// The entropy codes of zstd (RFC 8878), by one thread, from untrusted bytes: FSE tables, Huffman
// tables and streams.
#pragma once
#include "headrace/io/parquet_device/block_phases_math.h"

namespace hr::parquet {

inline constexpr uint32_t kHuffmanLog = 11;
inline constexpr uint32_t kKinds = 3;  // of codes: literal lengths, offsets, match lengths

/// Bits from the last one on, as zstd's streams are read. Those before the first are zeros.
struct ZstdBits {
  const uint8_t* bytes;
  int64_t left;

  /// False: there is no last bit.
  HR_BOTH bool begin(const uint8_t* from, uint32_t size) {
    bytes = from;
    if (size == 0 || from[size - 1] == 0) return false;
    uint32_t top = 7;
    while ((from[size - 1] >> top & 1) == 0) --top;
    left = (int64_t{size} - 1) * 8 + top;
    return true;
  }

  /// The next `count` bits, at most 32.
  HR_BOTH uint32_t peek(uint32_t count) const {
    const int64_t first = left - count;
    if (first >= 0)
      return static_cast<uint32_t>(load_eight(bytes + (first >> 3)) >> (first & 7)) &
             low_bits(count);
    if (left <= 0) return 0;
    return static_cast<uint32_t>((load_eight(bytes) & low_bits(static_cast<uint32_t>(left)))
                                 << -first) &
           low_bits(count);
  }

  HR_BOTH uint32_t read(uint32_t count) {
    const uint32_t bits = peek(count);
    left -= count;
    return bits;
  }
};

/// The same by one load for several codes.
struct ZstdCodes {
  static constexpr uint32_t kMost = 57;  // bits that are there after `load`

  ZstdBits bits;
  uint64_t next;  // bits, from the highest on

  HR_BOTH void load() {
    const int64_t first = bits.left - kMost;
    if (first >= 0)
      next = load_eight(bits.bytes + (first >> 3)) >> (first & 7) << 7;
    else
      next = bits.left > 0 ? load_eight(bits.bytes) << (64 - bits.left) : 0;
  }

  /// The next `count` bits, at most 32; all of a load are at most kMost.
  HR_BOTH uint32_t take(uint32_t count) {
    const auto taken = static_cast<uint32_t>(next >> 1 >> (63 - count));
    next <<= count;
    bits.left -= count;
    return taken;
  }
};

HR_BOTH inline uint32_t highest_bit(uint32_t value) {
  uint32_t bit = 0;
  while (value >> (bit + 1) != 0 && bit < 31) ++bit;
  return bit;
}

/// Codes of a kind, and the most bits of a state of its table.
HR_BOTH inline uint32_t symbols_of(uint32_t kind) {
  return kind == 0 ? 36 : kind == 1 ? 32 : 53;
}
HR_BOTH inline uint32_t log_of(uint32_t kind) {
  return kind == 1 ? 8 : 9;
}

/// The counts of an FSE table's symbols.
struct FseCounts {
  int16_t counts[256];
  uint32_t size;  // symbols
  uint32_t log;
};

/// Reads counts from `at` on, and moves it behind them. False: they are damaged.
HR_BOTH inline bool read_fse_counts(const uint8_t* bytes, uint32_t end, uint32_t& at,
                                    uint32_t most_symbols, uint32_t most_log, FseCounts& made) {
  if (at >= end) return false;
  const uint64_t limit = uint64_t{end - at} * 8;
  uint64_t bit = 0;
  const auto bits = [&](uint32_t count) {
    const uint64_t first = bit;
    bit += count;
    if (bit > limit) return 0u;
    return static_cast<uint32_t>(load_eight(bytes + at + (first >> 3)) >> (first & 7)) &
           low_bits(count);
  };
  made.log = bits(4) + 5;
  if (made.log > most_log) return false;
  made.size = 0;
  int32_t left = 1 << made.log;
  while (left > 0) {
    if (made.size == most_symbols || bit > limit) return false;
    const uint32_t count = highest_bit(static_cast<uint32_t>(left) + 1) + 1;
    uint32_t value = bits(count);
    const uint32_t mask = (1u << (count - 1)) - 1;
    const uint32_t threshold = (1u << count) - 1 - (static_cast<uint32_t>(left) + 1);
    if ((value & mask) < threshold) {
      --bit;
      value &= mask;
    } else if (value > mask) {
      value -= threshold;
    }
    const int32_t share = static_cast<int32_t>(value) - 1;
    left -= share < 0 ? -share : share;
    made.counts[made.size++] = static_cast<int16_t>(share);
    if (share != 0) continue;
    for (uint32_t zeros = 3; zeros == 3;) {
      zeros = bits(2);
      if (bit > limit) return false;
      for (uint32_t k = 0; k < zeros; ++k) {
        if (made.size == most_symbols) return false;
        made.counts[made.size++] = 0;
      }
    }
  }
  if (left != 0 || bit > limit) return false;
  at += static_cast<uint32_t>((bit + 7) / 8);
  return true;
}

/// A state of an FSE table: its symbol, the bits that lead to the next one, and what they are added
/// to.
HR_BOTH inline uint32_t fse_entry(uint32_t symbol, uint32_t bits, uint32_t base) {
  return symbol | bits << 8 | base << 16;
}
HR_BOTH inline uint32_t fse_symbol(uint32_t entry) {
  return entry & 255;
}
HR_BOTH inline uint32_t fse_bits(uint32_t entry) {
  return entry >> 8 & 255;
}
HR_BOTH inline uint32_t fse_base(uint32_t entry) {
  return entry >> 16;
}

/// `counts` becomes the next states of symbols. False: the counts fill no table.
HR_BOTH inline bool build_fse(FseCounts& counts, uint32_t* table) {
  const uint32_t size = 1u << counts.log, step = (size >> 1) + (size >> 3) + 3;
  uint32_t high = size, at = 0;
  for (uint32_t s = 0; s < counts.size; ++s)
    if (counts.counts[s] == -1) {
      if (high == 0) return false;
      table[--high] = s;
    }
  for (uint32_t s = 0; s < counts.size; ++s)
    for (int32_t k = 0; k < counts.counts[s]; ++k) {
      if (high == 0) return false;
      table[at] = s;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  if (at != 0) return false;
  for (uint32_t s = 0; s < counts.size; ++s)
    if (counts.counts[s] == -1) counts.counts[s] = 1;
  for (uint32_t state = 0; state < size; ++state) {
    const uint32_t symbol = table[state];
    const auto next = static_cast<uint32_t>(counts.counts[symbol]++);
    const uint32_t bits = counts.log - highest_bit(next);
    table[state] = fse_entry(symbol, bits, (next << bits) - size);
  }
  return true;
}

/// The tables of a frame's block that has none.
HR_BOTH inline void predefined_counts(uint32_t kind, FseCounts& made) {
  constexpr int8_t kLengths[36] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                   2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
  constexpr int8_t kMatches[53] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
  constexpr int8_t kOffsets[29] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};
  const int8_t* const from = kind == 0 ? kLengths : kind == 1 ? kOffsets : kMatches;
  made.size = kind == 0 ? 36 : kind == 1 ? 29 : 53;
  made.log = kind == 1 ? 5 : 6;
  for (uint32_t s = 0; s < made.size; ++s) made.counts[s] = from[s];
}

/// What is added to the bits behind a code of a literal length or a match length, and how many
/// these are.
HR_BOTH inline uint32_t length_base(uint32_t code, uint32_t& bits) {
  if (code < 16) {
    bits = 0;
    return code;
  }
  if (code < 25) {
    constexpr uint8_t kBits[9] = {1, 1, 1, 1, 2, 2, 3, 3, 4};
    constexpr uint8_t kBases[9] = {16, 18, 20, 22, 24, 28, 32, 40, 48};
    bits = kBits[code - 16];
    return kBases[code - 16];
  }
  bits = code - 19;
  return 1u << bits;
}

HR_BOTH inline uint32_t match_base(uint32_t code, uint32_t& bits) {
  if (code < 32) {
    bits = 0;
    return code + 3;
  }
  if (code < 43) {
    constexpr uint8_t kBits[11] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5};
    constexpr uint8_t kBases[11] = {35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99};
    bits = kBits[code - 32];
    return kBases[code - 32];
  }
  bits = code - 36;
  return (1u << bits) + 3;
}

/// The table of Huffman codes that a tree describes. False: it is damaged.
HR_BOTH inline bool build_huffman(const uint8_t* bytes, uint32_t at, uint32_t end,
                                  FseCounts& counts, uint16_t* table, uint8_t& log) {
  uint8_t weights[256];
  uint32_t number = 0;
  const uint32_t first = bytes[at++];
  if (first >= 128) {
    number = first - 127;
    if ((number + 1) / 2 > end - at) return false;
    for (uint32_t k = 0; k < number; ++k)
      weights[k] =
          static_cast<uint8_t>(k % 2 == 0 ? bytes[at + k / 2] >> 4 : bytes[at + k / 2] & 15);
  } else {
    const uint32_t stop = at + first;
    if (stop > end) return false;
    uint32_t states[64];
    if (!read_fse_counts(bytes, stop, at, 256, 6, counts) || !build_fse(counts, states))
      return false;
    ZstdBits bits;
    if (at >= stop || !bits.begin(bytes + at, stop - at)) return false;
    uint32_t one = bits.read(counts.log), two = bits.read(counts.log);
    if (bits.left < 0) return false;
    for (;;) {
      if (number > 253) return false;
      weights[number++] = static_cast<uint8_t>(fse_symbol(states[one]));
      one = fse_base(states[one]) + bits.read(fse_bits(states[one]));
      if (bits.left < 0) {
        weights[number++] = static_cast<uint8_t>(fse_symbol(states[two]));
        break;
      }
      if (number > 253) return false;
      weights[number++] = static_cast<uint8_t>(fse_symbol(states[two]));
      two = fse_base(states[two]) + bits.read(fse_bits(states[two]));
      if (bits.left < 0) {
        weights[number++] = static_cast<uint8_t>(fse_symbol(states[one]));
        break;
      }
    }
  }
  uint32_t sum = 0, begins[kHuffmanLog + 2] = {};
  for (uint32_t s = 0; s < number; ++s) {
    if (weights[s] > kHuffmanLog) return false;
    sum += 1u << weights[s] >> 1;
  }
  if (sum == 0) return false;
  const uint32_t all = highest_bit(sum) + 1;
  if (all > kHuffmanLog) return false;
  const uint32_t rest = (1u << all) - sum;
  if ((rest & (rest - 1)) != 0) return false;
  weights[number++] = static_cast<uint8_t>(highest_bit(rest) + 1);
  uint32_t ranks[kHuffmanLog + 2] = {};
  for (uint32_t s = 0; s < number; ++s)
    if (weights[s] > 0) ++ranks[weights[s]];
  if (ranks[1] < 2 || ranks[1] % 2 != 0) return false;
  for (uint32_t w = 1; w <= all; ++w) begins[w + 1] = begins[w] + (ranks[w] << (w - 1));
  if (begins[all + 1] != 1u << all) return false;
  for (uint32_t s = 0; s < number; ++s) {
    const uint32_t w = weights[s];
    if (w == 0) continue;
    const auto entry = static_cast<uint16_t>(s | (all + 1 - w) << 8);
    for (uint32_t k = 0; k < 1u << (w - 1); ++k) table[begins[w]++] = entry;
  }
  log = static_cast<uint8_t>(all);
  return true;
}

/// Decodes a stream to exactly `count` literals. False: it has others.
HR_BOTH inline bool read_huffman(const uint8_t* bytes, uint32_t size, const uint16_t* table,
                                 uint32_t log, uint8_t* out, uint32_t count) {
  ZstdCodes codes;
  if (!codes.bits.begin(bytes, size)) return false;
  ZstdBits& bits = codes.bits;
  uint32_t made = 0;
  for (; count - made >= 5 && bits.left >= 64; made += 5) {
    codes.load();
    uint32_t used = 0;
    for (uint32_t k = 0; k < 5; ++k) {
      const uint32_t entry = table[codes.next >> (64 - log)];
      codes.next <<= entry >> 8;
      used += entry >> 8;
      out[made + k] = static_cast<uint8_t>(entry);
    }
    bits.left -= used;
  }
  for (; made < count && bits.left > 0; ++made) {
    const uint32_t entry = table[bits.peek(log)];
    bits.left -= entry >> 8;
    out[made] = static_cast<uint8_t>(entry);
  }
  return made == count && bits.left == 0;
}

}  // namespace hr::parquet
