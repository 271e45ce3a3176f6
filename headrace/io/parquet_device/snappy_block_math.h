// SPDX-License-Identifier: Apache-2.0
// Snappy's block format, unpacked by a block of threads from untrusted bytes. Tags are found by
// segments, each byte of a window looks up where it comes from, and bytes that come from the same
// window follow their sources, twice as far each time.
#pragma once
#include "headrace/io/parquet_device/part_chain_math.h"

namespace hr::parquet {

inline constexpr uint32_t kSnappyWindow = kChainWindow;     // of unpacked bytes
inline constexpr uint32_t kSnappyParts = kChainWindow / 2;  // none is shorter than two bytes
inline constexpr uint32_t kLiteral = 1u << 31;

struct SnappyWindow {
  ChainWindow chain;
  uint32_t begins[kSnappyParts + 1];  // of parts, among unpacked bytes
  uint32_t sources[kSnappyParts];     // kLiteral and a place among packed bytes, or a distance
  uint32_t lengths[kChainSegments];
  uint32_t marks[kSnappyWindow / 32];  // bytes at which a part begins
  uint32_t ranks[kSnappyWindow / 32];
  uint8_t data[kSnappyWindow];
};

/// Bytes of a literal that has them behind its tag; kFar / 2 for too many.
HR_BOTH inline uint32_t long_literal(const ChainWindow& window, uint32_t at, uint32_t tag) {
  const uint32_t length = window.four(at + 1) & low_bits(8 * ((tag >> 2) - 59));
  return length >= kFar / 2 ? kFar / 2 : length + 1;
}

/// Whether a tag begins a literal whose length stands in bytes behind it: all else follows from the
/// tag alone, without a branch.
HR_BOTH inline bool is_long_literal(uint32_t tag) {
  return (tag & 3) == 0 && tag >= 60 << 2;
}

/// Of packed bytes.
HR_BOTH inline uint32_t snappy_size(const ChainWindow& window, uint32_t at) {
  const uint32_t tag = window.byte(at), kind = tag & 3;
  if (is_long_literal(tag)) return (tag >> 2) - 58 + long_literal(window, at, tag);
  return (0x5320 >> 4 * kind & 15) + (kind == 0 ? (tag >> 2) + 2 : 0);
}

/// Of unpacked bytes.
HR_BOTH inline uint32_t snappy_length(const ChainWindow& window, uint32_t at) {
  const uint32_t tag = window.byte(at);
  if (is_long_literal(tag)) return long_literal(window, at, tag);
  return (tag & 3) == 1 ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1;
}

/// Of a copy.
HR_BOTH inline uint32_t snappy_distance(const ChainWindow& window, uint32_t at) {
  const uint32_t tag = window.byte(at), kind = tag & 3, four = window.four(at + 1);
  return kind == 1 ? (tag >> 5 << 8) | (four & 0xFF) : kind == 2 ? four & 0xFFFF : four;
}

/// Writes the bytes of `parts` parts from `made` to `end`.
template <class Block>
HR_BOTH void put_snappy_parts(const Block& block, SnappyWindow& window, const uint8_t* packed,
                              uint8_t* out, uint32_t made, uint32_t end, uint32_t parts) {
  for (uint32_t begin = made; begin < end;) {
    uint32_t first = 0;  // the part of the first byte
    for (uint32_t step = kSnappyParts; step > 0; step /= 2)
      if (first + step < parts && window.begins[first + step] <= begin) first += step;
    const uint32_t passed = begin - window.begins[first], source = window.sources[first];
    const uint32_t rest = window.begins[first + 1] - begin;
    if (source >= kLiteral && rest >= kSnappyWindow) {
      block.copy(out + begin, packed + (source - kLiteral) + passed, rest);
      begin += rest;
      continue;
    }
    const uint32_t size = end - begin < kSnappyWindow ? end - begin : kSnappyWindow;
    block.each(kSnappyWindow / 32, [&](int64_t i) { window.marks[i] = 0; });
    block.each(parts - first - 1, [&](int64_t i) {
      const uint32_t at = window.begins[first + 1 + i] - begin;
      if (at < size) block.set_bits(window.marks + at / 32, 1u << at % 32);
    });
    block.each(kSnappyWindow / 32, [&](int64_t i) {
      window.ranks[i] = static_cast<uint32_t>(count_ones(window.marks[i]));
    });
    block.scan(window.ranks, kSnappyWindow / 32);
    auto& from = window.chain.places;
    bool is_open = block.any(size, [&](int64_t i) {
      const auto at = static_cast<uint32_t>(i);
      const uint32_t part =
          first + window.ranks[at / 32] +
          static_cast<uint32_t>(count_ones(window.marks[at / 32] & low_bits(at % 32 + 1)));
      const uint32_t inside = begin + at - window.begins[part], of = window.sources[part];
      from[0][at] = static_cast<uint16_t>(at);
      if (of >= kLiteral) {
        window.data[at] = packed[of - kLiteral + inside];
        return false;
      }
      const uint32_t to = window.begins[part] - of + (inside < of ? inside : inside % of);
      if (to < begin) {
        window.data[at] = out[to];
        return false;
      }
      from[0][at] = static_cast<uint16_t>(to - begin);
      return true;
    });
    int last = 0;
    while (is_open) {
      is_open = block.any(size, [&](int64_t i) {
        const uint32_t next = from[last][from[last][i]];
        from[1 - last][i] = static_cast<uint16_t>(next);
        return from[last][next] != next;
      });
      last = 1 - last;
    }
    block.each(size, [&](int64_t i) { out[begin + i] = window.data[from[last][i]]; });
    begin += size;
  }
}

/// Unpacks a block to exactly `size` bytes. False: it is damaged, or has a literal of half a
/// gigabyte.
template <class Block>
HR_BOTH bool unpack_snappy(const Block& block, SnappyWindow& window, const uint8_t* packed,
                           uint32_t packed_size, uint8_t* out, uint32_t size) {
  uint64_t said = 0;
  uint32_t at = 0;
  for (int shift = 0;; shift += 7) {
    if (at == packed_size || shift == 35) return false;
    const uint64_t part = packed[at++];
    said |= (part & 127) << shift;
    if (part < 128) break;
  }
  if (said != size) return false;
  uint32_t made = 0;
  while (at < packed_size) {
    const uint32_t left = packed_size - at, limit = left < kChainWindow ? left : kChainWindow;
    ChainWindow& chain = window.chain;
    load_window(block, chain, packed + at, left);
    const auto size_of = [&](uint32_t place) { return snappy_size(chain, place); };
    find_parts(block, chain, limit, size_of);
    block.each(kChainSegments, [&](int64_t segment) {
      uint32_t parts = 0, length = 0;
      for_each_part(chain, static_cast<uint32_t>(segment), limit, size_of, [&](uint32_t place) {
        ++parts;
        length += snappy_length(chain, place);
      });
      chain.counts[segment] = parts;
      window.lengths[segment] = length;
    });
    const uint32_t parts = block.scan(chain.counts, kChainSegments);
    const uint32_t length = block.scan(window.lengths, kChainSegments);
    if (chain.exit > left || length > size - made) return false;
    const bool is_damaged = block.any(kChainSegments, [&](int64_t segment) {
      bool damaged = false;
      uint32_t k = chain.counts[segment], begin = made + window.lengths[segment];
      for_each_part(chain, static_cast<uint32_t>(segment), limit, size_of, [&](uint32_t place) {
        const bool is_literal = (chain.byte(place) & 3) == 0;
        const uint32_t own = snappy_length(chain, place);
        window.begins[k] = begin;
        if (is_literal) {
          window.sources[k] = kLiteral | (at + place + snappy_size(chain, place) - own);
          damaged |= own == kFar / 2;
        } else {
          const uint32_t distance = snappy_distance(chain, place);
          window.sources[k] = distance;
          damaged |= distance == 0 || distance > begin;
        }
        begin += own;
        ++k;
      });
      return damaged;
    });
    if (is_damaged) return false;
    block.one([&] { window.begins[parts] = made + length; });
    const uint32_t next = at + chain.exit;
    put_snappy_parts(block, window, packed, out, made, made + length, parts);
    made += length;
    at = next;
  }
  return made == size;
}

}  // namespace hr::parquet
