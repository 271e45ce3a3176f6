// SPDX-License-Identifier: Apache-2.0
// The rows that a mask picks, a block at a time.
#include "headrace/algo/select/mask_cursor.h"

#include "headrace/algo/bits/value_width.h"
#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace hr {

namespace {

// Of fewer picked rows in a word their numbers are noted: the loads then follow each other without
// a guess about how many a word holds.
constexpr int64_t kFewInWord = 8;

// The lowest `count` set bits.
uint64_t lowest_bits(uint64_t bits, int64_t count) {
  uint64_t rest = bits;
  for (; count > 0; --count) rest &= rest - 1;
  return bits ^ rest;
}

}  // namespace

std::vector<int64_t> picked_begins(const Mask& mask, const std::vector<int64_t>& offsets,
                                   int64_t step) {
  const int64_t rows = mask.num_rows(), picked = offsets.back();
  std::vector<int64_t> begins;
  for (int64_t wanted = 0; wanted < picked; wanted += step) {
    const auto index =
        std::upper_bound(offsets.begin(), offsets.end(), wanted) - offsets.begin() - 1;
    int64_t before = offsets[static_cast<size_t>(index)];
    for (int64_t row = morsel_at(index, rows).begin;; row += 64) {
      uint64_t word = mask.word(row, std::min<int64_t>(64, rows - row));
      const int count = std::popcount(word);
      if (before + count <= wanted) {
        before += count;
        continue;
      }
      word ^= lowest_bits(word, wanted - before);
      begins.push_back(row + std::countr_zero(word));
      break;
    }
  }
  begins.push_back(rows);
  return begins;
}

void MaskCursor::next(int64_t count, PickedRows& picked) {
  picked.count = count;
  picked.words.clear();
  picked.rows.clear();
  for (int64_t missing = count; missing > 0;) {
    if (left_ == 0) {
      left_ = mask_.word(row_, std::min<int64_t>(64, mask_.num_rows() - row_));
      row_ += 64;
      if (left_ == 0) continue;
    }
    const int64_t some = std::popcount(left_);
    const uint64_t bits = some > missing ? lowest_bits(left_, missing) : left_;
    left_ ^= bits;
    missing -= std::min(some, missing);
    picked.words.push_back({row_ - 64, bits});
  }
  if (count >= kFewInWord * static_cast<int64_t>(picked.words.size())) return;
  for (const MaskWord& word : picked.words)
    for (uint64_t bits = word.bits; bits; bits &= bits - 1)
      picked.rows.push_back(word.row + std::countr_zero(bits));
}

void copy_picked(const std::byte* values, int64_t width, const PickedRows& picked, std::byte* out) {
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
