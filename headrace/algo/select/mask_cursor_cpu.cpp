// SPDX-License-Identifier: Apache-2.0
// Takes the picked rows of a mask and copies their values together, eight rows at a time.
#define HWY_TARGET_INCLUDE "headrace/algo/select/mask_cursor_cpu.cpp"
#include "headrace/algo/bits/set_bits.h"
#include "headrace/algo/bits/value_width.h"
#include "headrace/algo/select/mask_cursor.h"
#include "headrace/base/bits.h"
#include "headrace/base/simd_targets.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Of fewer picked rows in a word their numbers are noted: the loads then follow each other without
// a guess about how many a word holds.
constexpr int64_t kFewInWord = 8;

// `row` is behind the 64 rows of which `left` are still to be picked.
void next_picked(const Mask& mask, int64_t& row, uint64_t& left, int64_t count,
                 PickedRows& picked) {
  picked.count = count;
  picked.words.clear();
  picked.rows.clear();
  for (int64_t missing = count; missing > 0;) {
    if (left == 0) {
      left = mask.word(row, std::min<int64_t>(64, mask.num_rows() - row));
      row += 64;
      if (left == 0) continue;
    }
    const int64_t some = std::popcount(left);
    const uint64_t bits = some > missing ? lowest_ones(left, missing) : left;
    left ^= bits;
    missing -= std::min(some, missing);
    picked.words.push_back({row - 64, bits});
  }
  if (count >= kFewInWord * static_cast<int64_t>(picked.words.size())) return;
  picked.rows.resize(static_cast<size_t>(count));
  int64_t* out = picked.rows.data();
  for (const MaskWord& word : picked.words)
    for (uint64_t bits = word.bits; bits; bits &= bits - 1)
      *out++ = word.row + std::countr_zero(bits);
}

// Eight values from their places among the eight at `from`, of which those from the first picked
// one to the last lie in memory.
template <class T>
void put_eight(const T* from, const EightPlaces& places, bool all_lie_in_memory, T* out) {
#if HWY_TARGET <= HWY_AVX3
  // Highway's Compress copies its table to the stack with some compilers; its instruction that
  // stores is slow on some processors.
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    if (all_lie_in_memory) {
      const hn::FixedTag<uint64_t, 8> d;
      const hn::Rebind<uint8_t, decltype(d)> d8;
      const hn::Rebind<uint32_t, decltype(d)> d32;
      const auto at = hn::PromoteTo(d, hn::PromoteTo(d32, hn::LoadU(d8, places.data())));
      hn::StoreU(hn::TableLookupLanes(hn::LoadU(d, from), hn::IndicesFromVec(d, at)), d, out);
      return;
    }
#endif
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    if (all_lie_in_memory) {
      const hn::CappedTag<uint32_t, 8> d;
      if constexpr (hn::MaxLanes(d) == 8) {
        const hn::Rebind<uint8_t, decltype(d)> d8;
        const auto at = hn::PromoteTo(d, hn::LoadU(d8, places.data()));
        hn::StoreU(hn::TableLookupLanes(hn::LoadU(d, from), hn::IndicesFromVec(d, at)), d, out);
        return;
      }
    }
#endif
  static_cast<void>(all_lie_in_memory);
  for (size_t j = 0; j < 8; ++j) out[j] = from[places[j]];
}

// Bytes that are fetched ahead: work on the rows of a page delays what the processor would fetch of
// the next one.
constexpr size_t kAhead = 4096;

template <class T>
void copy(const PickedRows& picked, const T* values, T* out) {
  const T* const end = out + picked.count;
  for (const auto& [row, word] : picked.words) {
    const T* from = values + row;
    const auto* ahead = reinterpret_cast<const std::byte*>(from) + kAhead;
    for (size_t line = 0; line < sizeof(T); ++line) __builtin_prefetch(ahead + 64 * line);
    if (word == ~uint64_t{0}) {
      std::memcpy(out, from, 64 * sizeof(T));
      out += 64;
      continue;
    }
    uint64_t bits = word;
    // The next byte overwrites values in excess; behind the last picked row may be none.
    for (; end - out >= 64 && bits != 0; bits >>= 8, from += 8) {
      put_eight(from, kSetBits[bits & 255], bits >> 8 != 0, out);
      out += std::popcount(bits & 255);
    }
    for (; bits; bits &= bits - 1) *out++ = from[std::countr_zero(bits)];
  }
}

void copy_picked_words(const std::byte* values, int64_t width, const PickedRows& picked,
                       std::byte* out) {
  visit_width(width, [&]<class T>(std::type_identity<T>) {
    copy(picked, reinterpret_cast<const T*>(values), reinterpret_cast<T*>(out));
  });
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr {

void MaskCursor::next(int64_t count, PickedRows& picked) {
  HR_SIMD(next_picked)(mask_, row_, left_, count, picked);
}

namespace cpu {

void copy_words(const std::byte* values, int64_t width, const PickedRows& picked, std::byte* out) {
  HR_SIMD(copy_picked_words)(values, width, picked, out);
}

}  // namespace cpu

}  // namespace hr
#endif
