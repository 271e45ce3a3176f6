// SPDX-License-Identifier: Apache-2.0
// Where lines of CSV text end, tile by tile, and their parse by one lane each. Quotes toggle: an
// even number of them before a line end makes it the end of a row. Text where that is not so, as
// quotes in the middle of a field, is found by the lanes, which follow the fields.
#pragma once
#include "headrace/io/csv_device_reader_math.h"
#include "headrace/io/parquet_device/block_phases_math.h"

#include <cstdint>

namespace hr {

/// Bytes of a tile, and 64 of them at a time.
inline constexpr int64_t kLineTile = int64_t{1} << 14;
inline constexpr int64_t kTileWords = kLineTile / 64;

/// Row ends among 64 bytes, if their tile begins outside of quotes, and if inside.
struct RowEndBits {
  uint64_t outside = 0;
  uint64_t inside = 0;
};

/// What a tile holds, then what is before it.
struct LineTile {
  int64_t rows = 0;    ///< row ends; at first those if it begins outside of quotes
  int64_t ends = 0;    ///< line ends, in quotes or not
  int64_t inside = 0;  ///< 1: it begins inside of quotes; at first: its number of quotes is odd
};

/// What kernels count as blocks of text go by.
struct LineCounts {
  int64_t lines = 0;        ///< rows, and lines without one
  int64_t ends = 0;         ///< line ends, in quotes or not
  int64_t refused = 0;      ///< of the lines, listed as far as there is room
  int64_t out_of_step = 0;  ///< 1: there is a row that does not end where the quotes say
};

/// A line that the host must read.
struct RefusedLine {
  int64_t slot;   ///< lines before it
  int64_t begin;  ///< offset in the whole text
  int64_t size;   ///< without its end
  int64_t ends;   ///< line ends before it
};

inline constexpr int64_t kMostRefused = int64_t{1} << 16;

/// Where lines go; all of it lies on the device.
struct LineTargets {
  LineSyntax syntax{};
  int num_fields = 0;
  int64_t slots = 0;                  ///< later lines are checked and not kept
  const LineField* fields = nullptr;  ///< num_fields of them
  const uint64_t* fives = nullptr;
  LineCounts* counts = nullptr;
  RefusedLine* refused = nullptr;  ///< kMostRefused of them
  LineTile* tiles = nullptr;       ///< one per tile of a block
  RowEndBits* row_ends = nullptr;  ///< one per 64 bytes of its tiles
};

/// What threads of a block share.
struct TileWindow {
  uint64_t ends[kTileWords];
  uint64_t inside[kTileWords];
  uint32_t counts[kTileWords];
};

struct RowWindow {
  uint16_t ends[kLineTile];
  uint32_t counts[kTileWords];
};

inline constexpr int kResolvedTiles = 1024;  // at a time

struct ResolveWindow {
  uint32_t odd[kResolvedTiles];
  uint32_t rows[kResolvedTiles];
  uint32_t ends[kResolvedTiles];
};

#ifdef __CUDA_ARCH__
/// Which of four bytes are the given one: a bit each.
__device__ inline unsigned equal_bits(unsigned four, unsigned byte) {
  // Each byte keeps a bit of its own, and the top byte adds them up.
  return (__vcmpeq4(four, byte * 0x01010101u) & 0x08040201u) * 0x01010101u >> 24;
}
#endif

HR_BOTH inline int count_ones64(uint64_t word) {
#ifdef __CUDA_ARCH__
  return __popcll(word);
#else
  return __builtin_popcountll(word);
#endif
}

/// The place of the lowest one of a word that is not zero.
HR_BOTH inline int lowest_one(uint64_t word) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(word)) - 1;
#else
  return __builtin_ctzll(word);
#endif
}

/// The lowest `count` bits, 0 to 64.
HR_BOTH inline uint64_t low_bits64(int64_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

/// Each bit becomes the parity of those up to it.
HR_BOTH inline uint64_t parities(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

struct LineMasks {
  uint64_t ends = 0;  ///< the first bytes of line ends
  uint64_t quotes = 0;
};

/// Of the 64 bytes from `at` on, a multiple of 64, as far as they are below `size`.
HR_BOTH inline LineMasks line_masks(const char* text, int64_t size, int64_t at, int quote) {
  if (at >= size) return {};
  uint64_t feeds = 0, returns = 0, quotes = 0;
#ifdef __CUDA_ARCH__
  const auto* const sixteen = reinterpret_cast<const uint4*>(text + at);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint4 word = sixteen[k];
    const unsigned four[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      feeds |= uint64_t{equal_bits(four[j], '\n')} << (16 * k + 4 * j);
      returns |= uint64_t{equal_bits(four[j], '\r')} << (16 * k + 4 * j);
      if (quote >= 0)
        quotes |= uint64_t{equal_bits(four[j], static_cast<unsigned>(quote))} << (16 * k + 4 * j);
    }
  }
#else
  for (int i = 0; i < 64 && at + i < size; ++i) {
    feeds |= uint64_t{text[at + i] == '\n'} << i;
    returns |= uint64_t{text[at + i] == '\r'} << i;
    quotes |= uint64_t{static_cast<unsigned char>(text[at + i]) == quote} << i;
  }
#endif
  const uint64_t before = at > 0 && text[at - 1] == '\r';
  const uint64_t below = low_bits64(size - at);
  return {(returns | (feeds & ~(returns << 1 | before))) & below, quotes & below};
}

/// Finds and counts the row ends of a tile for either state at its begin.
template <class Block>
HR_BOTH void count_tile(const Block& block, TileWindow& window, const LineTargets& targets,
                        const LineText& text, int64_t tile) {
  const int64_t size = text.end - text.begin, begin = tile * kLineTile;
  block.each(kTileWords, [&](int64_t i) {
    const LineMasks masks = line_masks(text.begin, size, begin + 64 * i, targets.syntax.quote);
    window.ends[i] = masks.ends;
    window.inside[i] = parities(masks.quotes);
    window.counts[i] = static_cast<uint32_t>(window.inside[i] >> 63);
  });
  const uint32_t quotes = block.scan(window.counts, kTileWords);
  block.each(kTileWords, [&](int64_t i) {
    const uint64_t inside = window.inside[i] ^ (uint64_t{0} - (window.counts[i] & 1));
    const uint64_t ends = window.ends[i];
    targets.row_ends[tile * kTileWords + i] = {ends & ~inside, ends & inside};
    window.counts[i] =
        static_cast<uint32_t>(count_ones64(ends & ~inside) | count_ones64(ends) << 16);
  });
  const uint32_t sums = block.scan(window.counts, kTileWords);
  block.one([&] { targets.tiles[tile] = {sums & 0xFFFF, sums >> 16, quotes & 1}; });
}

/// Tells each tile of a block what is before it. One block of threads.
template <class Block>
HR_BOTH void resolve_tiles(const Block& block, ResolveWindow& window, const LineTargets& targets,
                           int64_t num_tiles) {
  int64_t rows = targets.counts->lines, ends = targets.counts->ends;
  uint32_t odd = 0;
  for (int64_t first = 0; first < num_tiles; first += kResolvedTiles) {
    LineTile* const tiles = targets.tiles + first;
    const int64_t left = num_tiles - first;
    const int count = left < kResolvedTiles ? static_cast<int>(left) : kResolvedTiles;
    block.each(count, [&](int64_t i) { window.odd[i] = static_cast<uint32_t>(tiles[i].inside); });
    const uint32_t quotes = block.scan(window.odd, count);
    block.each(count, [&](int64_t i) {
      window.odd[i] = (window.odd[i] ^ odd) & 1;
      const int64_t all = tiles[i].ends;
      window.ends[i] = static_cast<uint32_t>(all);
      window.rows[i] =
          static_cast<uint32_t>(window.odd[i] != 0 ? all - tiles[i].rows : tiles[i].rows);
    });
    const uint32_t more_rows = block.scan(window.rows, count);
    const uint32_t more_ends = block.scan(window.ends, count);
    block.each(count, [&](int64_t i) {
      tiles[i] = {rows + window.rows[i], ends + window.ends[i], window.odd[i]};
    });
    rows += more_rows;
    ends += more_ends;
    odd ^= quotes & 1;
  }
  block.one([&] {
    targets.counts->lines = rows;
    targets.counts->ends = ends;
  });
}

HR_BOTH inline uint64_t row_ends_of(const LineTargets& targets, int64_t word) {
  const RowEndBits& bits = targets.row_ends[word];
  return targets.tiles[word / kTileWords].inside != 0 ? bits.inside : bits.outside;
}

/// Whether the quotes, too, say that the row at `begin` ends at `end`.
HR_BOTH inline bool ends_row(const LineTargets& targets, int64_t begin, int64_t end) {
  if (targets.syntax.quote < 0) return true;
  for (int64_t word = begin / 64; word <= end / 64; ++word) {
    uint64_t bits = row_ends_of(targets, word);
    if (word == begin / 64) bits &= ~low_bits64(begin % 64);
    if (word == end / 64) return (bits & low_bits64(end % 64 + 1)) == uint64_t{1} << (end % 64);
    if (bits != 0) return false;
  }
  return false;
}

/// Line ends before a place in a tile, in the whole text.
HR_BOTH inline int64_t line_ends_before(const LineTargets& targets, int64_t tile, int64_t place) {
  int64_t count = targets.tiles[tile].ends;
  for (int64_t word = tile * kTileWords; word * 64 < place; ++word) {
    const RowEndBits& bits = targets.row_ends[word];
    count += count_ones64((bits.outside | bits.inside) & low_bits64(place - word * 64));
  }
  return count;
}

/// One line by one lane. `offset`: of the text in the whole one.
template <class Bits>
HR_BOTH void parse_row(const LineTargets& targets, const LineText& text, int64_t offset,
                       int64_t tile, int64_t begin, int64_t line, const Bits& bits) {
  const LineParser<Bits> lane{targets.syntax, text, targets.fives, line < targets.slots ? line : -1,
                              bits};
  const LineEnd end = lane.parse(targets.fields, targets.num_fields, text.begin + begin);
  if (!end.at || !ends_row(targets, begin, end.at - text.begin)) {
    targets.counts->out_of_step = 1;
    return;
  }
  if (end.is_taken) return;
  const int64_t place = bits.add(&targets.counts->refused, 1);
  if (place < kMostRefused)
    targets.refused[place] = {line, offset + begin, end.at - text.begin - begin,
                              line_ends_before(targets, tile, begin)};
}

/// Parses the lines that begin behind the row ends of a tile, and the one at the text's begin.
template <class Block, class Bits>
HR_BOTH void parse_tile(const Block& block, RowWindow& window, const LineTargets& targets,
                        const LineText& text, int64_t offset, int64_t tile, const Bits& bits) {
  block.each(kTileWords, [&](int64_t i) {
    window.counts[i] =
        static_cast<uint32_t>(count_ones64(row_ends_of(targets, tile * kTileWords + i)));
  });
  const int64_t count = block.scan(window.counts, kTileWords);
  block.each(kTileWords, [&](int64_t i) {
    uint32_t at = window.counts[i];
    for (uint64_t ends = row_ends_of(targets, tile * kTileWords + i); ends != 0; ends &= ends - 1)
      window.ends[at++] = static_cast<uint16_t>(64 * i + lowest_one(ends));
  });
  const int64_t first = tile == 0 ? -1 : 0;
  block.each(count - first, [&](int64_t i) {
    const int64_t k = i + first;
    int64_t begin = 0;
    if (k >= 0) {
      begin = tile * kLineTile + window.ends[k];
      begin += text.begin[begin] == '\r' && text.begin[begin + 1] == '\n' ? 2 : 1;
    }
    if (begin < text.end - text.begin)
      parse_row(targets, text, offset, tile, begin, targets.tiles[tile].rows + k + 1, bits);
  });
}

}  // namespace hr
