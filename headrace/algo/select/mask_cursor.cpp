// SPDX-License-Identifier: Apache-2.0
// The rows that a mask picks, a block at a time.
#include "headrace/algo/select/mask_cursor.h"

#include "headrace/algo/bits/value_width.h"
#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace hr {

namespace {

// Rows counted at once on the way to one of them.
constexpr int64_t kCountedRows = 4096;

}  // namespace

std::vector<int64_t> picked_begins(const Mask& mask, const std::vector<int64_t>& offsets,
                                   int64_t step) {
  const int64_t rows = mask.num_rows(), picked = offsets.back();
  std::vector<int64_t> begins;
  for (int64_t wanted = 0; wanted < picked; wanted += step) {
    const auto index =
        std::upper_bound(offsets.begin(), offsets.end(), wanted) - offsets.begin() - 1;
    int64_t before = offsets[static_cast<size_t>(index)], row = morsel_at(index, rows).begin;
    for (;; row += kCountedRows) {
      const int64_t count = mask.count(row, std::min(row + kCountedRows, rows));
      if (before + count > wanted) break;
      before += count;
    }
    for (;; row += 64) {
      uint64_t word = mask.word(row, std::min<int64_t>(64, rows - row));
      const int count = std::popcount(word);
      if (before + count <= wanted) {
        before += count;
        continue;
      }
      word ^= lowest_ones(word, wanted - before);
      begins.push_back(row + std::countr_zero(word));
      break;
    }
  }
  begins.push_back(rows);
  return begins;
}

void copy_picked(const std::byte* values, int64_t width, const PickedRows& picked, std::byte* out) {
  if (!std::has_single_bit(static_cast<uint64_t>(width)) || width > 16) {  // rows of a tensor
    const auto size = static_cast<size_t>(width);
    for (const MaskWord& word : picked.words)
      for (uint64_t bits = word.bits; bits; bits &= bits - 1, out += width)
        std::memcpy(out, values + (word.row + std::countr_zero(bits)) * width, size);
    return;
  }
  if (picked.rows.empty()) return cpu::copy_words(values, width, picked, out);
  visit_width(width, [&]<class T>(std::type_identity<T>) {
    const T* from = reinterpret_cast<const T*>(values);
    T* to = reinterpret_cast<T*>(out);
    for (const int64_t row : picked.rows) *to++ = from[row];
  });
}

void copy_picked_bits(const uint8_t* bits, int64_t offset, int64_t num_rows,
                      const PickedRows& picked, uint64_t* out) {
  std::fill_n(out, (picked.count + 63) / 64, uint64_t{0});
  int64_t to = 0;
  for (const MaskWord& word : picked.words) {
    const int64_t count = std::min<int64_t>(64, num_rows - word.row);
    const uint64_t some = extract_bits(load_bits(bits, offset + word.row, count), word.bits);
    const int shift = static_cast<int>(to & 63), bits_of_word = std::popcount(word.bits);
    out[to >> 6] |= some << shift;
    if (shift + bits_of_word > 64) out[(to >> 6) + 1] |= some >> (64 - shift);
    to += bits_of_word;
  }
}

}  // namespace hr
