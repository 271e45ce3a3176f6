// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: the text of strings as words of eight bytes, which compare as the strings
// do.
#pragma once
#include "headrace/data/device_strings.h"

#include <cstdint>

namespace hr::cuda {

inline constexpr int kPieceBytes = 8;

/// Words of four bytes as one, the first byte highest.
__device__ __forceinline__ uint64_t bytes_in_order(uint32_t first, uint32_t second) {
  return uint64_t{__byte_perm(first, 0, 0x0123)} << 32 | __byte_perm(second, 0, 0x0123);
}

/// The first `bytes` bytes of a word, zeros behind them.
__device__ __forceinline__ uint64_t first_bytes(uint64_t word, int64_t bytes) {
  if (bytes >= kPieceBytes) return word;
  return bytes <= 0 ? 0 : word & ~(~uint64_t{0} >> (8 * bytes));
}

/// The first eight of `left` bytes at any address. Words of four bytes are read whole, the last one
/// only where the text fills it: it may be the end of a buffer.
__device__ __forceinline__ uint64_t load_piece(const char* text, int64_t left) {
  const auto address = reinterpret_cast<uintptr_t>(text);
  const auto* const words = reinterpret_cast<const uint32_t*>(address & ~uintptr_t{3});
  const int behind = static_cast<int>(address & 3);
  if (behind == 0) return bytes_in_order(words[0], words[1]);
  uint32_t last = 0;
  if (left >= kPieceBytes + 4 - behind) {
    last = words[2];
  } else {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(words + 2);
    for (int i = 0; i < behind; ++i) last |= uint32_t{bytes[i]} << (8 * i);
  }
  return bytes_in_order(__funnelshift_r(words[0], words[1], 8 * behind),
                        __funnelshift_r(words[1], last, 8 * behind));
}

/// Bytes [8 piece, 8 piece + 8) of the string in a row that is not null, the first one highest;
/// zeros behind its end.
__device__ __forceinline__ uint64_t piece_of(const DeviceStrings& strings, int64_t row,
                                             int64_t piece) {
  const uint32_t* const view = strings.view(row);
  const int64_t size = view[0], left = size - piece * kPieceBytes;
  if (left <= 0) return 0;
  if (size <= static_cast<int64_t>(sizeof(StringView::inlined)))
    return first_bytes(piece == 0 ? bytes_in_order(view[1], view[2]) : bytes_in_order(view[3], 0),
                       left);
  const char* const text = strings.text[view[2]] + view[3] + piece * kPieceBytes;
  if (left >= kPieceBytes) return load_piece(text, left);
  uint64_t word = 0;
  for (int64_t i = 0; i < left; ++i)
    word |= uint64_t{static_cast<uint8_t>(text[i])} << (56 - 8 * i);
  return word;
}

/// A number of 64 bits of which each bit depends on all bits of both.
__device__ __forceinline__ uint64_t mix_words(uint64_t hash, uint64_t word) {
  const uint64_t both = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return (both ^ both >> 32) * 0xD6E8FEB86659FD93u;
}

/// Strings as keys of a table of rows.
struct StringRows {
  DeviceStrings strings;

  __device__ bool is_there(int64_t row) const { return strings.is_valid(row); }

  /// The text of a view that holds it: what is behind its end may be anything.
  struct Inlined {
    uint32_t words[3];

    __device__ Inlined(const uint32_t* view, uint32_t size) {
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        const int bytes = static_cast<int>(size) - 4 * k;
        words[k] = bytes <= 0 ? 0 : view[k + 1] & (bytes >= 4 ? ~0u : (1u << 8 * bytes) - 1);
      }
    }
  };

  __device__ static bool is_inlined(int64_t size) {
    return size <= static_cast<int64_t>(sizeof(StringView::inlined));
  }

  __device__ uint64_t hash(int64_t row) const {
    const uint32_t* const view = strings.view(row);
    const int64_t size = view[0];
    if (is_inlined(size)) {
      const Inlined text(view, view[0]);
      const uint64_t first = mix_words(0, uint64_t{text.words[0]} << 32 | text.words[1]);
      return mix_words(first, uint64_t{text.words[2]} << 32 | view[0]);
    }
    uint64_t hash = mix_words(0, static_cast<uint64_t>(size));
    for (int64_t piece = 0; piece * kPieceBytes < size; ++piece)
      hash = mix_words(hash, piece_of(strings, row, piece));
    return hash ^ hash >> 29;
  }

  __device__ static bool equal(const StringRows& a, int64_t i, const StringRows& b, int64_t j) {
    const int64_t size = a.strings.view(i)[0];
    const uint32_t *const own = a.strings.view(i), *const other = b.strings.view(j);
    if (size != other[0]) return false;
    if (is_inlined(size)) {
      const Inlined x(own, own[0]), y(other, own[0]);
      return x.words[0] == y.words[0] && x.words[1] == y.words[1] && x.words[2] == y.words[2];
    }
    for (int64_t piece = 0; piece * kPieceBytes < size; ++piece)
      if (piece_of(a.strings, i, piece) != piece_of(b.strings, j, piece)) return false;
    return true;
  }
};

}  // namespace hr::cuda
