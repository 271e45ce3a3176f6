// SPDX-License-Identifier: Apache-2.0
// Where parts begin that follow each other and tell their own sizes: strings behind their lengths,
// Snappy's tags. Found by a block of threads, a window of bytes at a time: one thread per segment
// finds where a chain leaves it from each byte that it could enter at, the same is found of groups
// of segments, and one then goes from group to group.
#pragma once
#include "headrace/io/parquet_device/block_phases_math.h"

namespace hr::parquet {

inline constexpr uint32_t kChainWindow = 4096;
inline constexpr uint32_t kChainSegment = 32;
inline constexpr uint32_t kChainSegments = kChainWindow / kChainSegment;
inline constexpr uint32_t kChainAhead = 8;  // bytes behind a window that may be read
inline constexpr uint32_t kFar = 1u << 30;  // a size that no part may have
inline constexpr uint32_t kNoPart = ~0u;

inline constexpr uint32_t kChainGroup = 256;   // bytes of some segments
inline constexpr uint32_t kLastPart = 0x8000;  // and the part that leaves the window

/// Shared by the threads. Segments lie apart, so that threads that go through theirs together use
/// different banks.
struct ChainWindow {
  // Of each byte where the chain leaves its segment, and its group; then of who is done with it.
  uint16_t places[2][kChainSegments * (kChainSegment + 1)];
  uint32_t entry[kChainSegments];  // where the chain enters a segment; kNoPart: it passes it
  uint32_t group_entry[kChainWindow / kChainGroup];
  uint32_t counts[kChainSegments];  // for who goes through the parts
  uint32_t exit;                    // where the chain leaves the window
  uint8_t bytes[(kChainWindow + kChainAhead) / kChainSegment * 36 + 36];

  HR_BOTH static uint32_t place(uint32_t at) { return at + (at / kChainSegment) * 4; }
  HR_BOTH uint32_t byte(uint32_t at) const { return bytes[place(at)]; }
  HR_BOTH uint32_t four(uint32_t at) const {
    return byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24;
  }
  HR_BOTH uint16_t& next_of(uint32_t at) { return places[0][at + at / kChainSegment]; }
};

/// Loads a window of `left` bytes, zeros behind them.
template <class Block>
HR_BOTH void load_window(const Block& block, ChainWindow& window, const uint8_t* bytes,
                         uint32_t left) {
  block.each((kChainWindow + kChainAhead) / 4, [&](int64_t i) {
    const auto at = static_cast<uint32_t>(4 * i);
    uint32_t four = 0;
    if (at + 4 <= left)
      four = load_four(bytes + at);
    else
      for (uint32_t k = at; k < left; ++k) four |= uint32_t{bytes[k]} << 8 * (k - at);
    for (uint32_t k = 0; k < 4; ++k)
      window.bytes[ChainWindow::place(at + k)] = static_cast<uint8_t>(four >> 8 * k);
  });
}

/// Finds where the chain from byte 0 enters the segments, of parts that begin below `limit`.
/// size_of(at): bytes of a part that would begin there, 1 to kFar.
template <class Block, class SizeOf>
HR_BOTH void find_parts(const Block& block, ChainWindow& window, uint32_t limit,
                        const SizeOf& size_of) {
  block.each(kChainSegments, [&](int64_t segment) {
    window.entry[segment] = kNoPart;
    const auto begin = static_cast<uint32_t>(segment) * kChainSegment;
    if (begin % kChainGroup == 0) window.group_entry[begin / kChainGroup] = kNoPart;
    const uint32_t end = begin + kChainSegment < limit ? begin + kChainSegment : limit;
    for (uint32_t at = end; at-- > begin;) {
      const uint32_t next = at + size_of(at);
      window.next_of(at) = next >= limit ? static_cast<uint16_t>(kLastPart | at)
                           : next < end  ? window.next_of(next)
                                         : static_cast<uint16_t>(next);
    }
  });
  // kLastPart is behind the end of each group.
  const auto group_end = [](uint32_t at) { return (at / kChainGroup + 1) * kChainGroup; };
  block.each(limit, [&](int64_t i) {
    const auto at = static_cast<uint32_t>(i);
    uint32_t next = window.next_of(at);
    while (next < group_end(at)) next = window.next_of(next);
    window.places[1][at] = static_cast<uint16_t>(next);
  });
  block.one([&] {
    uint32_t at = 0;
    do {
      window.group_entry[at / kChainGroup] = at;
      at = window.places[1][at];
    } while (at < kLastPart);
    at -= kLastPart;
    window.exit = at + size_of(at);
  });
  block.each(kChainWindow / kChainGroup, [&](int64_t group) {
    uint32_t at = window.group_entry[group];
    if (at == kNoPart) return;
    for (const uint32_t end = group_end(at); at < end; at = window.next_of(at))
      window.entry[at / kChainSegment] = at;
  });
}

/// f(at) for each part of a segment, in order.
template <class SizeOf, class F>
HR_BOTH void for_each_part(const ChainWindow& window, uint32_t segment, uint32_t limit,
                           const SizeOf& size_of, const F& f) {
  uint32_t end = (segment + 1) * kChainSegment;
  if (end > limit) end = limit;
  for (uint32_t at = window.entry[segment]; at < end; at += size_of(at)) f(at);
}

/// The places of the first `count` strings among bytes, each behind its length. False: they are not
/// all there.
template <class Block>
HR_BOTH bool find_strings(const Block& block, ChainWindow& window, const uint8_t* bytes,
                          uint32_t size, uint32_t count, uint32_t* places) {
  uint32_t at = 0;
  for (uint32_t found = 0; found < count;) {
    if (at >= size) return false;
    const uint32_t left = size - at, limit = left < kChainWindow ? left : kChainWindow;
    load_window(block, window, bytes + at, left);
    const auto size_of = [&](uint32_t place) {
      const uint32_t length = window.four(place);
      return length >= kFar - 4 ? kFar : length + 4;
    };
    find_parts(block, window, limit, size_of);
    block.each(kChainSegments, [&](int64_t segment) {
      uint32_t parts = 0;
      for_each_part(window, static_cast<uint32_t>(segment), limit, size_of,
                    [&](uint32_t) { ++parts; });
      window.counts[segment] = parts;
    });
    const uint32_t all = block.scan(window.counts, kChainSegments);
    const bool is_cut = block.any(kChainSegments, [&](int64_t segment) {
      bool cut = false;
      uint32_t k = found + window.counts[segment];
      for_each_part(window, static_cast<uint32_t>(segment), limit, size_of, [&](uint32_t place) {
        if (k < count) {
          cut |= left - place < 4 || window.four(place) > left - place - 4;
          places[k] = at + place;
        }
        ++k;
      });
      return cut;
    });
    if (is_cut) return false;
    found += all;
    at += window.exit;
  }
  return true;
}

}  // namespace hr::parquet
