// SPDX-License-Identifier: Apache-2.0
// A zstd frame (RFC 8878), unpacked by a block of threads from untrusted bytes. The frame's blocks
// are parsed, their literals and their sequences decoded side by side; then sequences become copies
// as Snappy's do. Frames with checksums or dictionaries, and several in one page, are refused.
#pragma once
#include "headrace/io/parquet_device/snappy_block_math.h"
#include "headrace/io/parquet_device/zstd_codes_math.h"

#include <cstddef>

namespace hr::parquet {

inline constexpr uint32_t kZstdBlocks = 8;  // that are decoded side by side
inline constexpr uint32_t kMostZstdBlock = 128 << 10;
inline constexpr uint32_t kSequences = 1024;     // that become copies together
inline constexpr uint32_t kOwnOffset = 1 << 27;  // lower ones are known within a block
inline constexpr uint32_t kOffsetCodes = 27;

/// Where a table of codes comes from.
struct ZstdTable {
  enum Mode : uint8_t { kNone, kPredefined, kRepeated, kDescribed };
  Mode mode;
  uint8_t symbol;  // of kRepeated
  uint32_t at;     // of kDescribed
};

struct ZstdBlock {
  enum Type : uint8_t { kRaw, kRun, kPacked };
  Type type;
  bool is_wrong;
  bool has_streams;  // literals are Huffman's
  bool has_run;      // they are one byte
  uint8_t num_streams;
  uint32_t at;  // of what follows the block's head
  uint32_t end;
  uint32_t literals_at;  // of literals as they are, or of streams
  uint32_t literals_end;
  uint32_t literals;     // their number
  uint32_t literals_to;  // where they go among those of the page
  uint32_t tree_at;      // 0: that of a block before
  uint32_t sequences;
  uint32_t sequences_at;  // of their bits
  uint32_t sequences_to;
  ZstdTable tables[kKinds];
  uint32_t offsets[3];  // the last ones behind the block
  uint32_t made;        // bytes of its sequences
  uint32_t used;        // literals of its sequences
};

/// A sequence: literals, the length of a match and its offset, in one word.
HR_BOTH inline uint64_t sequence_of(uint32_t literals, uint32_t match, uint32_t offset) {
  return uint64_t{literals} | uint64_t{match} << 18 | uint64_t{offset} << 36;
}
HR_BOTH inline uint32_t literals_of(uint64_t sequence) {
  return sequence & 0x3FFFF;
}
HR_BOTH inline uint32_t match_of(uint64_t sequence) {
  return sequence >> 18 & 0x3FFFF;
}
HR_BOTH inline uint32_t offset_of(uint64_t sequence) {
  return static_cast<uint32_t>(sequence >> 36);
}

struct ZstdWindow {
  union {
    uint16_t huffman[kZstdBlocks][1 << kHuffmanLog];  // a symbol, and its bits above
    uint32_t states[kZstdBlocks][512 + 256 + 512];    // literal lengths, offsets, match lengths
    SnappyWindow copies;
    struct {
      uint32_t lengths[kSequences];
      uint32_t literals[kSequences];
      uint32_t parts[kSequences];
    } sums;  // end before the parts of `copies` begin
  };
  ZstdBlock blocks[kZstdBlocks];
  uint8_t huffman_logs[kZstdBlocks];
  uint32_t count;  // of blocks
  uint32_t at;
  uint32_t most;  // bytes of a block
  uint32_t num_literals;
  uint32_t num_sequences;
  uint32_t offsets[3];
  uint32_t tree_at;
  ZstdTable tables[kKinds];
  bool is_last;
  bool is_damaged;
};
static_assert(offsetof(SnappyWindow, begins) >= 12 * kSequences);

/// What a page needs besides its unpacked bytes.
struct ZstdRoom {
  uint8_t* literals;
  uint64_t* sequences;
  uint32_t most_sequences;
};

/// Sequences that there is room for; a page with more is refused.
HR_BOTH inline uint32_t most_sequences(uint32_t unpacked) {
  return unpacked / 4 + 16;
}

/// Reads a frame's head. False: it is another than what pages have.
HR_BOTH inline bool begin_zstd(ZstdWindow& window, const uint8_t* bytes, uint32_t size,
                               uint32_t unpacked) {
  if (size < 6 || load_four(bytes) != 0xFD2FB528) return false;
  const uint32_t head = bytes[4];
  const bool is_single = (head & 32) != 0;
  if ((head & 15) != 0 || (head & 16) != 0) return false;  // checksum, dictionary, unknown bits
  uint32_t at = 5;
  uint64_t window_bytes = 0;
  if (!is_single) {
    const uint32_t log = (bytes[at] >> 3) + 10;
    if (log > 27) return false;
    window_bytes = (uint64_t{1} << log) + (uint64_t{1} << log) / 8 * (bytes[at] & 7);
    ++at;
  }
  const uint32_t form = head >> 6;
  const uint32_t width = form == 0 ? (is_single ? 1 : 0) : 1u << form;
  if (size - at < width) return false;
  if (width > 0) {
    uint64_t said = 0;
    for (uint32_t k = 0; k < width; ++k) said |= uint64_t{bytes[at + k]} << 8 * k;
    if (width == 2) said += 256;
    if (said != unpacked) return false;
    if (is_single) window_bytes = said;
  }
  window.at = at + width;
  window.most =
      window_bytes < kMostZstdBlock ? static_cast<uint32_t>(window_bytes) : kMostZstdBlock;
  window.is_last = false;
  window.tree_at = 0;
  for (uint32_t k = 0; k < 3; ++k) window.offsets[k] = k == 0 ? 1 : 4 * k;
  for (ZstdTable& table : window.tables) table.mode = ZstdTable::kNone;
  return true;
}

/// Finds the next blocks. False: they are damaged.
HR_BOTH inline bool next_zstd_blocks(ZstdWindow& window, const uint8_t* bytes, uint32_t size) {
  for (window.count = 0; window.count < kZstdBlocks && !window.is_last; ++window.count) {
    if (size - window.at < 3) return false;
    const uint32_t head = load_four(bytes + window.at) & 0xFFFFFF;
    const uint32_t type = head >> 1 & 3, length = head >> 3;
    window.at += 3;
    window.is_last = (head & 1) != 0;
    const uint32_t stored = type == ZstdBlock::kRun ? 1 : length;
    if (type == 3 || length > window.most || size - window.at < stored) return false;
    ZstdBlock& block = window.blocks[window.count];
    block = {};
    block.type = static_cast<ZstdBlock::Type>(type);
    block.at = window.at;
    block.literals = length;
    window.at += stored;
    block.end = window.at;
  }
  return !window.is_last || window.at == size;
}

/// Reads what stands before the literals of a block from `at` on, and moves it behind them. False:
/// it is damaged.
HR_BOTH inline bool parse_zstd_literals(ZstdBlock& block, const uint8_t* bytes, uint32_t& at) {
  const uint32_t end = block.end;
  if (end - at < 2) return false;
  const uint32_t kind = bytes[at] & 3, form = bytes[at] >> 2 & 3;
  if (kind < 2) {
    const uint32_t width = (form & 1) == 0 ? 1 : form == 1 ? 2 : 3;
    if (end - at < width) return false;
    const uint32_t head = load_four(bytes + at) & low_bits(8 * width);
    block.literals = width == 1 ? head >> 3 : head >> 4;
    block.has_run = kind == 1;
    at += width;
    block.literals_at = at;
    const uint32_t stored = block.has_run ? 1 : block.literals;
    if (end - at < stored) return false;
    at += stored;
    return true;
  }
  const uint32_t width = form < 2 ? 3 : form + 2, each = form < 2 ? 10 : form == 2 ? 14 : 18;
  if (end - at < width) return false;
  const uint64_t head = load_eight(bytes + at) >> 4;
  block.literals = static_cast<uint32_t>(head) & low_bits(each);
  const uint32_t stored = static_cast<uint32_t>(head >> each) & low_bits(each);
  block.num_streams = form == 0 ? 1 : 4;
  block.has_streams = true;
  at += width;
  if (end - at < stored || block.literals == 0 || (block.num_streams == 4 && block.literals < 6))
    return false;
  block.literals_at = at;
  block.literals_end = at + stored;
  if (kind == 2) {
    if (stored == 0) return false;
    block.tree_at = at;
    const uint32_t first = bytes[at];
    const uint32_t tree = 1 + (first < 128 ? first : (first - 127 + 1) / 2);
    if (tree > stored) return false;
    block.literals_at = at + tree;
  }
  at += stored;
  return true;
}

/// Reads what stands before the literals and the sequences of a block. False: it is damaged.
HR_BOTH inline bool parse_zstd_block(ZstdBlock& block, const uint8_t* bytes, FseCounts& counts,
                                     uint32_t most) {
  uint32_t at = block.at;
  if (block.type != ZstdBlock::kPacked) {
    block.has_run = block.type == ZstdBlock::kRun;
    block.literals_at = at;
    return true;
  }
  const uint32_t end = block.end;
  if (!parse_zstd_literals(block, bytes, at) || block.literals > most || at >= end) return false;
  uint32_t number = bytes[at++];
  if (number >= 128) {
    if (end - at < (number < 255 ? 1 : 2)) return false;
    const uint32_t next = bytes[at++];
    number =
        number < 255 ? ((number - 128) << 8) + next : next + (uint32_t{bytes[at++]} << 8) + 0x7F00;
  }
  block.sequences = number;
  if (number == 0) return at == end;
  if (at >= end) return false;
  const uint32_t modes = bytes[at++];
  if ((modes & 3) != 0) return false;
  for (uint32_t k = 0; k < kKinds; ++k) {
    ZstdTable& table = block.tables[k];
    switch (modes >> (6 - 2 * k) & 3) {
      case 0:
        table.mode = ZstdTable::kPredefined;
        break;
      case 1:
        if (at >= end || bytes[at] >= symbols_of(k)) return false;
        table.mode = ZstdTable::kRepeated;
        table.symbol = bytes[at++];
        break;
      case 2:
        table.mode = ZstdTable::kDescribed;
        table.at = at;
        if (!read_fse_counts(bytes, end, at, symbols_of(k), log_of(k), counts)) return false;
        break;
      default:
        table.mode = ZstdTable::kNone;
    }
  }
  block.sequences_at = at;
  return at < end;
}

/// Gives blocks the tables of those before them, and places to what they hold. False: there is no
/// table, or too much of the rest.
HR_BOTH inline bool place_zstd_blocks(ZstdWindow& window, uint32_t unpacked,
                                      uint32_t most_sequences) {
  window.num_literals = 0;
  window.num_sequences = 0;
  for (uint32_t b = 0; b < window.count; ++b) {
    ZstdBlock& block = window.blocks[b];
    if (block.is_wrong) return false;
    if (block.has_streams) {
      if (block.tree_at == 0) block.tree_at = window.tree_at;
      if (block.tree_at == 0) return false;
      window.tree_at = block.tree_at;
    }
    if (block.sequences > 0)
      for (uint32_t k = 0; k < kKinds; ++k) {
        if (block.tables[k].mode == ZstdTable::kNone) block.tables[k] = window.tables[k];
        if (block.tables[k].mode == ZstdTable::kNone) return false;
        window.tables[k] = block.tables[k];
      }
    if (block.literals > unpacked - window.num_literals ||
        block.sequences > most_sequences - window.num_sequences)
      return false;
    block.literals_to = window.num_literals;
    block.sequences_to = window.num_sequences;
    window.num_literals += block.literals;
    window.num_sequences += block.sequences;
  }
  return true;
}

/// Stream `k` of a block's literals. False: it is damaged.
HR_BOTH inline bool read_zstd_stream(const ZstdBlock& block, uint32_t k, const uint8_t* bytes,
                                     const uint16_t* table, uint32_t log, uint8_t* literals) {
  uint32_t at = block.literals_at;
  const uint32_t end = block.literals_end;
  uint8_t* const out = literals + block.literals_to;
  if (block.num_streams == 1)
    return read_huffman(bytes + at, end - at, table, log, out, block.literals);
  if (end - at < 6) return false;
  const uint32_t each = (block.literals + 3) / 4, heads = at;
  at += 6;
  uint32_t size = 0;
  for (uint32_t i = 0; i <= k; ++i) {
    at += size;
    if (at > end) return false;
    size = i < 3 ? bytes[heads + 2 * i] | uint32_t{bytes[heads + 2 * i + 1]} << 8 : end - at;
  }
  if (size > end - at || 3 * each > block.literals) return false;
  return read_huffman(bytes + at, size, table, log, out + k * each,
                      k < 3 ? each : block.literals - 3 * each);
}

/// Decodes the sequences of a block. Offsets that lie before it are kOwnOffset and which of the
/// last three they are, less some. False: they are damaged.
HR_BOTH inline bool read_zstd_sequences(ZstdBlock& block, const uint8_t* bytes, FseCounts& counts,
                                        uint32_t* states, uint64_t* out) {
  uint32_t* const tables[kKinds] = {states, states + 512, states + 768};
  uint32_t logs[kKinds];
  for (uint32_t k = 0; k < kKinds; ++k) {
    const ZstdTable& table = block.tables[k];
    if (table.mode == ZstdTable::kRepeated) {
      tables[k][0] = fse_entry(table.symbol, 0, 0);
      logs[k] = 0;
      continue;
    }
    if (table.mode == ZstdTable::kPredefined) {
      predefined_counts(k, counts);
    } else {
      uint32_t at = table.at;
      if (!read_fse_counts(bytes, block.end, at, symbols_of(k), log_of(k), counts)) return false;
    }
    if (!build_fse(counts, tables[k])) return false;
    logs[k] = counts.log;
  }
  ZstdCodes codes;
  ZstdBits& bits = codes.bits;
  if (!bits.begin(bytes + block.sequences_at, block.end - block.sequences_at)) return false;
  uint32_t length = bits.read(logs[0]), offset = bits.read(logs[1]), match = bits.read(logs[2]);
  uint32_t first = kOwnOffset, second = kOwnOffset | 1, third = kOwnOffset | 2;  // offsets
  uint64_t made = 0, used = 0;
  for (uint32_t k = 0; k < block.sequences; ++k) {
    if (bits.left < 0) return false;
    codes.load();
    const uint32_t of_length = tables[0][length], of_offset = tables[1][offset],
                   of_match = tables[2][match];
    const uint32_t code = fse_symbol(of_offset);
    if (code >= kOffsetCodes) return false;
    uint32_t length_bits, match_bits;
    const uint32_t match_from = match_base(fse_symbol(of_match), match_bits);
    const uint32_t length_from = length_base(fse_symbol(of_length), length_bits);
    const uint32_t value = (1u << code) + codes.take(code);
    const uint32_t matched = match_from + codes.take(match_bits);
    const uint32_t state_bits = fse_bits(of_length) + fse_bits(of_match) + fse_bits(of_offset);
    if (code + match_bits + length_bits + state_bits > ZstdCodes::kMost) codes.load();
    const uint32_t literals = length_from + codes.take(length_bits);
    uint32_t distance = value - 3;
    const uint32_t which = value > 3 ? 3 : value - 1 + (literals == 0 ? 1 : 0);
    if (value <= 3) {
      distance = which == 0 ? first : which == 1 ? second : third;
      if (which == 3) {  // one less than the last
        distance = first < kOwnOffset ? first - 1 : first + 4;
        if (distance == 0 || distance >= kOwnOffset * 2 - 4) return false;
      }
    }
    if (which > 1) third = second;
    if (which > 0) second = first;
    first = distance;
    used += literals;
    made += uint64_t{literals} + matched;
    if (used > block.literals || made > kMostZstdBlock) return false;
    out[k] = sequence_of(literals, matched, distance);
    if (k + 1 == block.sequences) break;
    length = fse_base(of_length) + codes.take(fse_bits(of_length));
    match = fse_base(of_match) + codes.take(fse_bits(of_match));
    offset = fse_base(of_offset) + codes.take(fse_bits(of_offset));
  }
  block.offsets[0] = first;
  block.offsets[1] = second;
  block.offsets[2] = third;
  block.made = static_cast<uint32_t>(made);
  block.used = static_cast<uint32_t>(used);
  return bits.left == 0;
}

/// An offset of a sequence, given the last three before its block; 0: it is none.
HR_BOTH inline uint32_t known_offset(uint32_t offset, const uint32_t* before) {
  if (offset < kOwnOffset) return offset;
  const uint32_t less = (offset - kOwnOffset) >> 2, last = before[offset & 3];
  return last > less ? last - less : 0;
}

/// Writes what a block stands for from `made` on. False: it copies what is not there.
template <class Block>
HR_BOTH bool put_zstd_block(const Block& block, ZstdWindow& window, const ZstdBlock& of,
                            const ZstdRoom& room, uint8_t* out, uint32_t made) {
  const uint64_t* const sequences = room.sequences + of.sequences_to;
  uint32_t literals = of.literals_to;
  SnappyWindow& copies = window.copies;
  for (uint32_t done = 0; done < of.sequences; done += kSequences) {
    const uint32_t left = of.sequences - done, some = left < kSequences ? left : kSequences;
    auto& sums = window.sums;
    block.each(some, [&](int64_t i) {
      const uint64_t sequence = sequences[done + i];
      sums.lengths[i] = literals_of(sequence) + match_of(sequence);
      sums.literals[i] = literals_of(sequence);
      sums.parts[i] = literals_of(sequence) > 0 ? 2 : 1;
    });
    const uint32_t length = block.scan(sums.lengths, static_cast<int>(some));
    const uint32_t used = block.scan(sums.literals, static_cast<int>(some));
    const uint32_t parts = block.scan(sums.parts, static_cast<int>(some));
    const bool is_damaged = block.any(some, [&](int64_t i) {
      const uint64_t sequence = sequences[done + i];
      const uint32_t own = literals_of(sequence);
      uint32_t begin = made + sums.lengths[i], part = sums.parts[i];
      if (own > 0) {
        copies.begins[part] = begin;
        copies.sources[part++] = kLiteral | (literals + sums.literals[i]);
        begin += own;
      }
      const uint32_t distance = known_offset(offset_of(sequence), window.offsets);
      copies.begins[part] = begin;
      copies.sources[part] = distance;
      return distance == 0 || distance > begin;
    });
    if (is_damaged) return false;
    block.one([&] { copies.begins[parts] = made + length; });
    put_snappy_parts(block, copies, room.literals, out, made, made + length, parts);
    made += length;
    literals += used;
  }
  block.copy(out + made, room.literals + literals, of.literals_to + of.literals - literals);
  return true;
}

/// Unpacks a frame to exactly `size` bytes. False: it is damaged, or not what pages mostly have.
template <class Block>
HR_BOTH bool unpack_zstd(const Block& block, ZstdWindow& window, const ZstdRoom& room,
                         const uint8_t* packed, uint32_t packed_size, uint8_t* out, uint32_t size) {
  block.one([&] { window.is_damaged = !begin_zstd(window, packed, packed_size, size); });
  uint32_t made = 0;
  for (bool is_last = false; !is_last;) {
    if (window.is_damaged) return false;
    block.one([&] { window.is_damaged = !next_zstd_blocks(window, packed, packed_size); });
    if (window.is_damaged) return false;
    const uint32_t count = window.count;
    is_last = window.is_last;
    block.each_apart(count, [&](uint32_t b) {
      FseCounts counts;
      window.blocks[b].is_wrong = !parse_zstd_block(window.blocks[b], packed, counts, window.most);
    });
    block.one([&] { window.is_damaged = !place_zstd_blocks(window, size, room.most_sequences); });
    if (window.is_damaged) return false;
    block.each_apart(count, [&](uint32_t b) {
      ZstdBlock& of = window.blocks[b];
      FseCounts counts;
      if (of.has_streams)
        of.is_wrong = !build_huffman(packed, of.tree_at, packed_size, counts, window.huffman[b],
                                     window.huffman_logs[b]);
    });
    bool is_wrong = block.any(count, [&](int64_t b) { return window.blocks[b].is_wrong; });
    if (is_wrong) return false;
    block.each_apart(4 * count, [&](uint32_t i) {
      ZstdBlock& of = window.blocks[i / 4];
      if (of.has_streams && i % 4 < of.num_streams &&
          !read_zstd_stream(of, i % 4, packed, window.huffman[i / 4], window.huffman_logs[i / 4],
                            room.literals))
        of.is_wrong = true;
    });
    for (uint32_t b = 0; b < count; ++b) {
      const ZstdBlock& of = window.blocks[b];
      if (of.has_streams) continue;
      uint8_t* const to = room.literals + of.literals_to;
      if (of.has_run)
        block.each(of.literals, [&](int64_t i) { to[i] = packed[of.literals_at]; });
      else
        block.copy(to, packed + of.literals_at, of.literals);
    }
    block.each_apart(count, [&](uint32_t b) {
      ZstdBlock& of = window.blocks[b];
      FseCounts counts;
      if (of.sequences > 0 && !of.is_wrong)
        of.is_wrong = !read_zstd_sequences(of, packed, counts, window.states[b],
                                           room.sequences + of.sequences_to);
    });
    is_wrong = block.any(count, [&](int64_t b) { return window.blocks[b].is_wrong; });
    if (is_wrong) return false;
    for (uint32_t b = 0; b < count; ++b) {
      const ZstdBlock& of = window.blocks[b];
      const uint32_t length = of.made + of.literals - of.used;
      if (length > window.most || length > size - made) return false;
      if (!put_zstd_block(block, window, of, room, out, made)) return false;
      made += length;
      block.one([&] {
        if (of.sequences == 0) return;
        uint32_t now[3];
        for (uint32_t k = 0; k < 3; ++k) now[k] = known_offset(of.offsets[k], window.offsets);
        for (uint32_t k = 0; k < 3; ++k) window.offsets[k] = now[k];
      });
    }
  }
  return made == size;
}

}  // namespace hr::parquet
